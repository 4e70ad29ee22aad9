# recount in a container. Your Claude folder is mounted read-only, the store is a volume:
#   docker build -t recount .
#   docker run --rm -v ~/.claude:/claude:ro -v recount:/store recount list
FROM rust:1.95-slim-trixie AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --profile dist --locked --package recount --features lake

FROM debian:trixie-slim
# To trust object stores and the place of the model.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/target/dist/recount /usr/local/bin/recount
ENV CLAUDE_CONFIG_DIR=/claude RECOUNT_STORE=/store
ENTRYPOINT ["recount"]
