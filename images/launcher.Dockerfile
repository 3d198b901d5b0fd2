# The launcher: API, pages and operator in one program, with only the C library and certificates.
# The build context comes from images/build.sh:  docker build -f images/launcher.Dockerfile target/images/launcher
FROM scratch
COPY rootfs /
COPY launcher /usr/local/bin/launcher
USER 65532:65532
EXPOSE 8000 9090
ENTRYPOINT ["/usr/local/bin/launcher"]
CMD ["serve"]
