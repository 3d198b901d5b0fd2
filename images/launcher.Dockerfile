# The launcher: API, pages and operator in one static program, with the program for its checks of course material and the
# certificates of Debian.
#   docker build --file images/launcher.Dockerfile --tag REGISTRY/launcher:TAG .
# images/build.sh uses the last stage alone, for a program that it built outside.

# docs/release.md describes an update of this image.
FROM docker.io/library/rust:1.95.0-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082 AS build
WORKDIR /src
COPY . .
# Commit for --version, for example abc1234. Optional.
ARG LAUNCHER_COMMIT
RUN images/build.sh launcher

FROM scratch
COPY --from=build /src/target/images/launcher/rootfs /
COPY --from=build /src/target/images/launcher/launcher /usr/local/bin/launcher
LABEL org.opencontainers.image.title="Workshop Launcher" \
  org.opencontainers.image.licenses="MIT OR Apache-2.0"
USER 65532:65532
EXPOSE 8000 9090
ENTRYPOINT ["/usr/local/bin/launcher"]
CMD ["serve"]
