//! The page: everything that recount knows, for a browser on this computer.
//!
//! What is asked for is read on threads of its own, never on those that answer; one question that
//! takes long keeps nobody else waiting.

mod answer;
mod api;
mod desk;
mod download;
mod guard;
mod live;
mod open;
mod pages;
mod session;
mod shelf;
mod words;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, RawQuery, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use report::page::document::{self, STYLES};
use tokio::net::TcpListener;

use self::answer::{Body, Refusal, Reply, headers};
pub use self::desk::Desk;
pub use self::guard::Guard;
pub use self::open::Open;
use self::session::Look;
pub use self::words::{Of, Words};

/// What every question is given.
type Held = State<Arc<Desk>>;
type Id = Path<String>;
type Asked = Query<Look>;

/// Answers until the process ends.
pub async fn serve(desk: Arc<Desk>, guard: Guard, listener: TcpListener) -> std::io::Result<()> {
    live::begin(&desk);
    axum::serve(listener, router(desk, guard)).await
}

/// Where the server is to listen.
pub async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    TcpListener::bind(address).await
}

fn router(desk: Arc<Desk>, guard: Guard) -> Router {
    Router::new()
        .route("/", get(pages::sessions))
        .route("/p/{project}", get(pages::project))
        .route("/search", get(pages::search))
        .route("/file", get(pages::file))
        .route("/errors", get(pages::errors))
        .route("/usage", get(pages::usage))
        .route("/storage", get(pages::storage))
        .route("/journal", get(pages::journal))
        .route("/s/{id}", get(page))
        .route("/s/{id}/a/{agent}", get(agent_page))
        .route("/s/{id}/facts", get(facts))
        .route("/s/{id}/piece/{at}", get(piece))
        .route("/s/{id}/news", get(news))
        .route("/s/{id}/find", get(find))
        .route("/s/{id}/inside/{agent}", get(inside))
        .route("/s/{id}/raw/{number}", get(raw))
        .route("/s/{id}/output/{number}", get(output))
        .route("/s/{id}/where/{number}", get(place))
        .route("/s/{id}/media/{number}/{at}", get(media))
        .route("/s/{id}/export/{name}", get(export))
        .route("/live", get(live::events))
        .route("/api/v1/{*question}", get(api::answer))
        .route("/assets/page.css", get(|| asset("text/css; charset=utf-8", STYLES)))
        .route("/assets/{name}", get(code))
        .fallback(|| async { Refusal::missing("There is no such page") })
        .with_state(desk)
        .layer(middleware::from_fn_with_state(Arc::new(guard), check))
}

async fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// A module of the page's code.
async fn code(Path(name): Path<String>) -> Response {
    match document::module_text(&name) {
        Some(text) => asset("text/javascript; charset=utf-8", text).await,
        None => Refusal::missing("There is no such page").into_response(),
    }
}

/// Lets nobody in who may not ask, and says with every answer what it may do.
async fn check(
    State(guard): State<Arc<Guard>>,
    RawQuery(query): RawQuery,
    request: Request,
    next: Next,
) -> Response {
    let query = query.unwrap_or_default();
    let mut response = match guard.check(request.method(), request.headers(), &query) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let is_picture = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"image/"));
    for (name, value) in headers() {
        response.headers_mut().insert(name, value);
    }
    if is_picture {
        // Opened alone, a picture could be a page.
        let nothing = HeaderValue::from_static("default-src 'none'; sandbox");
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, nothing);
    }
    if let Some(token) = guard.token().filter(|_| response.status().is_success()) {
        let cookie = format!("{}={token}; HttpOnly; SameSite=Strict; Path=/", guard::COOKIE);
        if let Ok(cookie) = cookie.parse() {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
    }
    response
}

/// Reads on another thread. Pages are answered without secrets, if that is wanted.
async fn apart(desk: Arc<Desk>, ask: impl FnOnce(&Desk) -> Reply + Send + 'static) -> Reply {
    let covered = move || {
        Ok(match ask(&desk)? {
            Body::Html(html) => Body::Html(desk.covered(html)),
            body => body,
        })
    };
    match tokio::task::spawn_blocking(covered).await {
        Ok(answer) => answer,
        Err(_) => Err(Refusal::wrong("This could not be answered")),
    }
}

async fn page(State(desk): Held, Path(id): Id, Query(look): Asked) -> Reply {
    apart(desk, move |desk| session::page(desk, &id, &look)).await
}

async fn agent_page(
    State(desk): Held,
    Path((id, agent)): Path<(String, String)>,
    Query(look): Asked,
) -> Reply {
    let look = look.of_agent(&agent);
    apart(desk, move |desk| session::page(desk, &id, &look)).await
}

async fn facts(State(desk): Held, Path(id): Id, Query(look): Asked) -> Reply {
    apart(desk, move |desk| session::facts(desk, &id, &look)).await
}

async fn piece(
    State(desk): Held,
    Path((id, at)): Path<(String, usize)>,
    Query(look): Asked,
) -> Reply {
    apart(desk, move |desk| session::piece(desk, &id, at, &look)).await
}

async fn news(State(desk): Held, Path(id): Id, Query(look): Asked) -> Reply {
    apart(desk, move |desk| json(&session::news(desk, &id, &look)?)).await
}

async fn find(State(desk): Held, Path(id): Id, Query(look): Asked) -> Reply {
    apart(desk, move |desk| json(&session::find(desk, &id, &look)?)).await
}

async fn inside(
    State(desk): Held,
    Path((id, agent)): Path<(String, String)>,
    Query(look): Asked,
) -> Reply {
    apart(desk, move |desk| session::inside(desk, &id, &agent, &look)).await
}

async fn raw(
    State(desk): Held,
    Path((id, number)): Path<(String, u32)>,
    Query(look): Asked,
) -> Reply {
    apart(desk, move |desk| session::raw(desk, &id, number, &look)).await
}

async fn output(
    State(desk): Held,
    Path((id, number)): Path<(String, u32)>,
    Query(look): Asked,
) -> Reply {
    apart(desk, move |desk| session::output(desk, &id, number, &look)).await
}

async fn place(
    State(desk): Held,
    Path((id, number)): Path<(String, u32)>,
    Query(look): Asked,
) -> Reply {
    apart(desk, move |desk| json(&session::place(desk, &id, number, &look)?)).await
}

async fn media(
    State(desk): Held,
    Path((id, number, at)): Path<(String, u32, usize)>,
    Query(look): Asked,
) -> Reply {
    apart(desk, move |desk| session::media(desk, &id, number, at, &look)).await
}

async fn export(State(desk): Held, Path((id, name)): Path<(String, String)>) -> Reply {
    apart(desk, move |desk| download::export(desk, &id, &name)).await
}

/// One JSON line.
fn json(value: &impl serde::Serialize) -> Reply {
    let failed = |_| Refusal::wrong("This could not be answered");
    Ok(Body::Lines(serde_json::to_vec(value).map_err(failed)?))
}

#[cfg(test)]
mod tests;
