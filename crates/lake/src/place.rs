//! A folder or an object store, and the few things that are done there.
//!
//! Object stores are asynchronous and nothing else of ours is: here is the runtime, and everybody
//! else waits. Credentials come from the variables that are handed in, and only from there:
//! without any, object_store would ask an address on the local network for some.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path as FilePath, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    ObjectStore, ObjectStoreExt, ObjectStoreScheme, PutMode, PutPayload, RetryConfig,
};
use tokio::runtime::Runtime;
use url::Url;

use crate::error::{LakeError, OpenError};

/// So many questions are on their way at once.
const AT_ONCE: usize = 16;
/// A store that does not answer is tried again for so long.
const PATIENCE: Duration = Duration::from_secs(20);

const AWS: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
    "AWS_SKIP_SIGNATURE",
];
const GOOGLE: &[&str] = &[
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_SKIP_SIGNATURE",
];
const AZURE: &[&str] = &[
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_CLIENT_SECRET",
    "AZURE_STORAGE_TOKEN",
    "AZURE_FEDERATED_TOKEN_FILE",
    "AZURE_SKIP_SIGNATURE",
];

/// Where a lake is.
#[derive(Debug)]
pub struct Place {
    store: Box<dyn ObjectStore>,
    prefix: Path,
    /// The folder, if it is one.
    folder: Option<PathBuf>,
    runtime: Runtime,
}

/// Whether a folder has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// It has to.
    Read,
    /// It is made.
    Write,
}

/// An object in a lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its place, from the lake's own folder on.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was written, in milliseconds since 1970.
    pub written: i64,
}

impl Place {
    /// Opens a folder or a URL. Of the variables those for credentials and addresses are used.
    pub fn open(
        url: &str,
        variables: &[(String, String)],
        intent: Intent,
    ) -> Result<Self, OpenError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(OpenError::Runtime)?;
        if let Some(folder) = folder(url)? {
            let store = local(&folder, intent).map_err(|e| OpenError::Folder(url.into(), e))?;
            let (store, prefix) = (Box::new(store), Path::default());
            return Ok(Self { store, prefix, folder: Some(folder), runtime });
        }
        let parsed = Url::parse(url).map_err(|error| OpenError::NoUrl(url.into(), error))?;
        let (store, prefix) = remote(&parsed, variables)?;
        Ok(Self { store, prefix, folder: None, runtime })
    }

    /// The folder, if the lake is in one.
    pub fn folder(&self) -> Option<&FilePath> {
        self.folder.as_deref()
    }

    /// Everything below a folder of the lake, sorted.
    pub fn list(&self, under: &str) -> Result<Vec<Object>, LakeError> {
        let prefix = self.at(under)?;
        let metas = self.wait(under, self.store.list(Some(&prefix)).try_collect::<Vec<_>>())?;
        let mut all = Vec::with_capacity(metas.len());
        for meta in metas {
            let Some(parts) = meta.location.prefix_match(&self.prefix) else { continue };
            let parts: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
            let written = meta.last_modified.timestamp_millis();
            all.push(Object { path: parts.join("/"), bytes: meta.size, written });
        }
        all.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(all)
    }

    /// The bytes of an object.
    pub fn get(&self, path: &str) -> Result<Bytes, LakeError> {
        let at = self.at(path)?;
        self.wait(path, async { self.store.get(&at).await?.bytes().await })
    }

    /// Writes an object whole, whatever was there.
    pub fn put(&self, path: &str, bytes: Bytes) -> Result<(), LakeError> {
        let at = self.at(path)?;
        self.wait(path, self.store.put(&at, PutPayload::from(bytes))).map(drop)
    }

    /// Writes an object whole if there is none; whether there was none.
    pub fn create(&self, path: &str, bytes: Bytes) -> Result<bool, LakeError> {
        let at = self.at(path)?;
        let put = self.store.put_opts(&at, PutPayload::from(bytes), PutMode::Create.into());
        match self.runtime.block_on(put) {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(object_store::Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(LakeError::of(path, error)),
        }
    }

    /// The sizes of those objects that are there.
    pub fn sizes(&self, paths: &[&str]) -> Result<HashMap<String, u64>, LakeError> {
        let mut asked = Vec::with_capacity(paths.len());
        for path in paths {
            asked.push((self.at(path)?, (*path).to_owned()));
        }
        let heads = stream::iter(asked).map(|(at, path)| async move {
            match self.store.head(&at).await {
                Ok(meta) => Ok(Some((path, meta.size))),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(LakeError::of(&path, error)),
            }
        });
        let heads = heads.buffer_unordered(AT_ONCE).try_collect::<Vec<_>>();
        Ok(self.runtime.block_on(heads)?.into_iter().flatten().collect())
    }

    /// What a stopped write to a folder has left under a name of its own, `FILE#1`. Such names
    /// are no objects: they are never listed otherwise.
    pub fn staged(&self) -> Result<Vec<Object>, LakeError> {
        let Some(root) = &self.folder else { return Ok(Vec::new()) };
        let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            let failed = |error| LakeError::folder(&folder, error);
            for entry in std::fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let (path, meta) = (entry.path(), entry.metadata().map_err(failed)?);
                let rel = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                if meta.is_dir() {
                    folders.push(path);
                } else if is_staged(&rel) {
                    let written = meta.modified().map_err(failed)?;
                    found.push(Object { path: rel, bytes: meta.len(), written: millis(written) });
                }
            }
        }
        Ok(found)
    }

    /// Removes an object; one that is gone already is no mistake.
    pub fn remove(&self, path: &str) -> Result<(), LakeError> {
        if let Some(root) = self.folder.as_ref().filter(|_| is_staged(path)) {
            return std::fs::remove_file(root.join(path)).map_err(|e| LakeError::folder(root, e));
        }
        let at = self.at(path)?;
        match self.wait(path, self.store.delete(&at)) {
            Err(LakeError::Missing(_)) => Ok(()),
            result => result,
        }
    }

    fn at(&self, path: &str) -> Result<Path, LakeError> {
        let whole = match self.prefix.as_ref() {
            "" => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        };
        Path::parse(whole).map_err(|error| LakeError::of(path, error.into()))
    }

    fn wait<T>(
        &self,
        path: &str,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, LakeError> {
        self.runtime.block_on(work).map_err(|error| LakeError::of(path, error))
    }
}

fn is_staged(path: &str) -> bool {
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    path.rsplit_once('#').is_some_and(|(_, end)| is_number(end))
}

fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The folder that a URL stands for, if it is one.
fn folder(url: &str) -> Result<Option<PathBuf>, OpenError> {
    if !url.contains("://") {
        return Ok(Some(url.into()));
    }
    if !url.starts_with("file:") {
        return Ok(None);
    }
    let parsed = Url::parse(url).map_err(|error| OpenError::NoUrl(url.into(), error))?;
    parsed.to_file_path().map(Some).map_err(|()| OpenError::Scheme(url.into()))
}

fn local(folder: &FilePath, intent: Intent) -> std::io::Result<LocalFileSystem> {
    if intent == Intent::Write {
        std::fs::create_dir_all(folder)?;
    }
    // A manifest must not be on the disk before the files that it names.
    Ok(LocalFileSystem::new_with_prefix(folder)?.with_fsync(true))
}

fn remote(
    url: &Url,
    variables: &[(String, String)],
) -> Result<(Box<dyn ObjectStore>, Path), OpenError> {
    let Ok((scheme, path)) = ObjectStoreScheme::parse(url) else {
        return Err(OpenError::Scheme(url.as_str().into()));
    };
    let failed = |error| OpenError::Store(url.as_str().into(), error);
    let retry = RetryConfig { max_retries: 5, retry_timeout: PATIENCE, ..RetryConfig::default() };
    let store: Box<dyn ObjectStore> = match scheme {
        ObjectStoreScheme::AmazonS3 => {
            let set = settings(url, variables, "AWS_", AWS)?;
            let builder = AmazonS3Builder::new().with_url(url.as_str()).with_retry(retry);
            let builder =
                set.into_iter().fold(builder, |builder, (key, value)| match key.parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
            Box::new(builder.build().map_err(failed)?)
        }
        ObjectStoreScheme::GoogleCloudStorage => {
            let set = settings(url, variables, "GOOGLE_", GOOGLE)?;
            let builder = GoogleCloudStorageBuilder::new().with_url(url.as_str()).with_retry(retry);
            let builder =
                set.into_iter().fold(builder, |builder, (key, value)| match key.parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
            Box::new(builder.build().map_err(failed)?)
        }
        ObjectStoreScheme::MicrosoftAzure => {
            let set = settings(url, variables, "AZURE_", AZURE)?;
            let builder = MicrosoftAzureBuilder::new().with_url(url.as_str()).with_retry(retry);
            let builder =
                set.into_iter().fold(builder, |builder, (key, value)| match key.parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
            Box::new(builder.build().map_err(failed)?)
        }
        _ => return Err(OpenError::Scheme(url.as_str().into())),
    };
    Ok((store, path))
}

/// What the environment says to a kind of store; an error if no credentials are among it.
fn settings(
    url: &Url,
    variables: &[(String, String)],
    prefix: &str,
    credentials: &'static [&'static str],
) -> Result<Vec<(String, String)>, OpenError> {
    if !variables.iter().any(|(name, _)| credentials.contains(&&**name)) {
        return Err(OpenError::NoCredentials { url: url.as_str().into(), variables: credentials });
    }
    // Somebody may have chosen already, and then it is the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let own = variables.iter().filter(|(name, _)| name.starts_with(prefix));
    Ok(own.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_is_none_is_said() {
        let open = |url: &str| Place::open(url, &[], Intent::Read);
        assert!(matches!(open("s3://"), Err(OpenError::NoUrl(..) | OpenError::Scheme(_))));
        assert!(matches!(open("ftp://host/lake"), Err(OpenError::Scheme(_))));
        assert!(matches!(open("https://example.org/lake"), Err(OpenError::Scheme(_))));
        assert!(matches!(open("/there/is/none"), Err(OpenError::Folder(..))));
    }

    #[test]
    fn nobody_is_asked_for_credentials() {
        for url in ["s3://bucket/lake", "gs://bucket/lake", "az://container/lake"] {
            let opened = Place::open(url, &[("HOME".into(), "/".into())], Intent::Write);
            assert!(matches!(opened, Err(OpenError::NoCredentials { .. })), "{url}");
        }
    }
}
