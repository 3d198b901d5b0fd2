# The program that places course material: one static program, with a description of the Debian packages in it.
#   docker build --file images/material.Dockerfile --tag REGISTRY/material:TAG .
# images/build.sh uses the last stage alone, for a program that it built outside.

# docs/release.md describes an update of this image.
FROM docker.io/library/rust:1.95.0-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082 AS build
WORKDIR /src
COPY . .
# Commit for --version, for example abc1234. Optional.
ARG LAUNCHER_COMMIT
RUN images/build.sh material

FROM scratch
COPY --from=build /src/target/images/material/rootfs /
COPY --from=build /src/target/images/material/launcher-material /launcher-material
LABEL org.opencontainers.image.title="Workshop Launcher: course material" \
  org.opencontainers.image.licenses="MIT OR Apache-2.0"
USER 65532:65532
ENTRYPOINT ["/launcher-material"]
