# The sidecar: one static program and nothing else.
# The build context comes from images/build.sh:  docker build -f images/sidecar.Dockerfile target/images/sidecar
FROM scratch
COPY launcher-sidecar /launcher-sidecar
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["/launcher-sidecar"]
