# Two images from one build:
#   docker build -t attache .                      Debian with a shell, for a look inside
#   docker build -t attache --target minimal .     the binary and its libraries, nothing else
#
# Neither holds a rule file or a secret. Mount proxy.conf at /etc/attache and secrets as files that user 65532 may
# read; replay and temporary files go to /tmp, so give it a tmpfs and keep the root read-only:
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp \
#       -v ./proxy.conf:/etc/attache/proxy.conf:ro -v ./secrets:/run/secrets:ro -p 127.0.0.1:3128:3128 attache
# A rule file for a published port listens on 0.0.0.0:3128; one for a sidecar, in its application's network, on
# 127.0.0.1:3128.

ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${SWIFT_IMAGE} AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /src
COPY Tests/packages Tests/packages
RUN sh Tests/packages build && rm -rf /var/lib/apt/lists/*
COPY Package.swift ./
COPY Tests Tests
COPY Sources Sources
# The Swift library is linked in; what is left to load comes from Debian and must all be there.
RUN swift build -c release --static-swift-stdlib --explicit-target-dependency-import-check error --product attache \
    && install -D -s "$(swift build -c release --show-bin-path)/attache" /out/usr/local/bin/attache \
    && ldd /out/usr/local/bin/attache > /tmp/libraries \
    && if grep -E 'libswift|libFoundation|not found' /tmp/libraries; then exit 1; fi \
    && grep -oE '/[^ ]+\.so[^ ]*' /tmp/libraries | sort -u | xargs cp -L --parents -t /out \
    && install -d /out/etc/attache /out/run/secrets /out/var/lib/attache \
    && install -d -m 1777 /out/tmp

FROM scratch AS minimal
LABEL org.opencontainers.image.title="attache" \
    org.opencontainers.image.description="An authenticating forward proxy for tools that cannot" \
    org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /out /
USER 65532:65532
EXPOSE 3128
HEALTHCHECK --interval=10s --timeout=3s --start-period=2s CMD ["/usr/local/bin/attache", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/attache"]
CMD ["run"]

FROM ${DEBIAN_IMAGE}
LABEL org.opencontainers.image.title="attache" \
    org.opencontainers.image.description="An authenticating forward proxy for tools that cannot" \
    org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
    && apt-get install -y --no-install-recommends libc-ares2 libcrypt1 libssl3 libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && install -d /etc/attache /run/secrets /var/lib/attache
COPY --from=build /out/usr/local/bin/attache /usr/local/bin/attache
USER 65532:65532
EXPOSE 3128
HEALTHCHECK --interval=10s --timeout=3s --start-period=2s CMD ["/usr/local/bin/attache", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/attache"]
CMD ["run"]
