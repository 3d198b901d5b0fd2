# The sidecar: one static program, with a description of the Debian packages in it.
#   docker build --file images/sidecar.Dockerfile --tag REGISTRY/sidecar:TAG .
# images/build.sh uses the last stage alone, for a program that it built outside.

# docs/release.md describes an update of this image.
FROM docker.io/library/rust:1.95.0-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082 AS build
WORKDIR /src
COPY . .
# Commit for --version, for example abc1234. Optional.
ARG LAUNCHER_COMMIT
RUN images/build.sh sidecar

FROM scratch
COPY --from=build /src/target/images/sidecar/rootfs /
COPY --from=build /src/target/images/sidecar/launcher-sidecar /launcher-sidecar
LABEL org.opencontainers.image.title="Workshop Launcher: sidecar" \
  org.opencontainers.image.licenses="MIT OR Apache-2.0"
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["/launcher-sidecar"]
