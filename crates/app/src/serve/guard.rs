//! Who may ask.
//!
//! A page of another site can send requests to a server on this computer, and a name that it
//! owns can be made to lead here. So the `Host` has to be one that this server is known by, an
//! `Origin` has to be the page itself, and whoever comes from elsewhere has to know the token.

use std::io;
use std::net::SocketAddr;

use axum::http::{HeaderMap, Method, header};

use super::answer::Refusal;

/// The longest query that is looked at.
pub const LONGEST: usize = 8 * 1024;

/// Who may ask.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The names and addresses, with the port, that the server is known by; none: any.
    hosts: Option<Vec<String>>,
    /// What has to be known, if the server can be reached from elsewhere.
    token: Option<String>,
}

impl Guard {
    /// For a server at this address. One that can be reached from elsewhere may have any name,
    /// but needs a token.
    pub fn of(address: SocketAddr, token: impl FnOnce() -> io::Result<String>) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            return Ok(Self { hosts: None, token: Some(token()?) });
        }
        let names = ["127.0.0.1", "localhost", "[::1]"];
        let mut hosts = names.map(|name| format!("{name}:{}", address.port())).to_vec();
        hosts.push(address.to_string());
        Ok(Self { hosts: Some(hosts), token: None })
    }

    /// The token, if one is needed.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Whether this may be asked.
    pub fn check(&self, method: &Method, headers: &HeaderMap, query: &str) -> Result<(), Refusal> {
        if method != Method::GET && method != Method::HEAD {
            return Err(Refusal::forbidden("Nothing can be changed here"));
        }
        if query.len() > LONGEST {
            return Err(Refusal::wrong("The question is too long"));
        }
        let text =
            |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).unwrap_or_default();
        if let Some(hosts) = &self.hosts
            && !hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
        {
            return Err(Refusal::forbidden("This server is not known by that name"));
        }
        if let Some(origin) = text(header::ORIGIN)
            && !origin.eq_ignore_ascii_case(&format!("http://{host}"))
        {
            return Err(Refusal::forbidden("Only its own pages may ask"));
        }
        if text(header::HeaderName::from_static("sec-fetch-site")) == Some("cross-site")
            && text(header::HeaderName::from_static("sec-fetch-mode")) != Some("navigate")
        {
            return Err(Refusal::forbidden("Only its own pages may ask"));
        }
        match &self.token {
            Some(token) if !knows(headers, query, token) => {
                Err(Refusal::forbidden("Open the address that `recount serve` printed"))
            }
            _ => Ok(()),
        }
    }
}

/// The cookie that holds the token once it has been told.
pub const COOKIE: &str = "recount-token";

/// Whether the token is told: in the address, or in the cookie that was set when it was.
fn knows(headers: &HeaderMap, query: &str, token: &str) -> bool {
    let told = |pair: &str, name: &str| {
        pair.trim().split_once('=').is_some_and(|(key, value)| key == name && is_same(value, token))
    };
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    query.split('&').any(|pair| told(pair, "token"))
        || cookies.flat_map(|all| all.split(';')).any(|pair| told(pair, COOKIE))
}

/// Compares in the same time whatever is wrong.
fn is_same(one: &str, other: &str) -> bool {
    let bytes = one.bytes().zip(other.bytes());
    one.len() == other.len() && bytes.fold(0, |odd, (a, b)| odd | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Guard {
        let address = address.parse().expect("an address");
        Guard::of(address, || Ok("secret".into())).expect("a guard")
    }

    fn ask(guard: &Guard, method: &Method, headers: &[(&'static str, &str)], query: &str) -> bool {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.insert(*name, value.parse().expect("a value"));
        }
        guard.check(method, &all, query).is_ok()
    }

    #[test]
    fn only_pages_of_this_server_may_ask() {
        let guard = at("127.0.0.1:4000");
        let get = |headers: &[(&'static str, &str)]| ask(&guard, &Method::GET, headers, "");
        assert!(get(&[("host", "127.0.0.1:4000")]));
        assert!(get(&[("host", "LOCALHOST:4000"), ("origin", "http://localhost:4000")]));
        assert!(!get(&[("host", "127.0.0.2:4000")]));
        assert!(ask(&at("127.0.0.2:4000"), &Method::GET, &[("host", "127.0.0.2:4000")], ""));
        assert!(!get(&[]), "a host has to be named");
        assert!(!get(&[("host", "evil.example:4000")]), "a name that was made to lead here");
        assert!(!get(&[("host", "127.0.0.1:80")]));
        assert!(!get(&[("host", "127.0.0.1:4000"), ("origin", "http://evil.example")]));
        assert!(!get(&[("host", "127.0.0.1:4000"), ("origin", "null")]));
        let cross = ("sec-fetch-site", "cross-site");
        assert!(!get(&[("host", "127.0.0.1:4000"), cross, ("sec-fetch-mode", "no-cors")]));
        assert!(get(&[("host", "127.0.0.1:4000"), cross, ("sec-fetch-mode", "navigate")]));
        assert!(!ask(&guard, &Method::POST, &[("host", "127.0.0.1:4000")], ""));
        assert!(!ask(&guard, &Method::GET, &[("host", "127.0.0.1:4000")], &"q".repeat(9000)));
    }

    #[test]
    fn from_elsewhere_the_token_has_to_be_known() {
        assert_eq!(at("127.0.0.1:4000").token(), None);
        assert_eq!(at("[::1]:4000").token(), None);
        let guard = at("0.0.0.0:4000");
        assert_eq!(guard.token(), Some("secret"));
        let get = |headers: &[(&'static str, &str)], query: &str| {
            ask(&guard, &Method::GET, headers, query)
        };
        let host = ("host", "box.lan:4000");
        assert!(!get(&[host], ""));
        assert!(!get(&[host], "token=secre"));
        assert!(!get(&[host], "q=secret"));
        assert!(get(&[host], "q=x&token=secret"));
        assert!(get(&[host, ("cookie", "a=b; recount-token=secret")], ""));
        assert!(!get(&[host, ("cookie", "recount-token=")], ""));
    }
}
