# Two images from one build:
#   docker build -t attache .                      Debian with a shell, for a look inside
#   docker build -t attache --target minimal .     the binary and its libraries, nothing else: without those that are
#                                                  loaded when asked for (PostgreSQL, Kerberos, ftp, PAC files)
#
# PAC files with JavaScript later than ES5 need another engine, of 75 MB:
#   docker build -t attache --build-arg PAC_PACKAGE=libjavascriptcoregtk-4.1-0 .
#
# Neither holds a rule file or a secret. Mount proxy.conf at /etc/attache and secrets as files that user 65532 may
# read. The root stays read-only; bodies held for a second try go to /tmp, or are not held where it cannot be written:
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges --memory 64m --tmpfs /tmp:size=16m \
#       --stop-timeout 35 -v ./proxy.conf:/etc/attache/proxy.conf:ro -v ./secrets:/run/secrets:ro \
#       -p 127.0.0.1:3128:3128 attache
# What lies on a tmpfs counts as memory: its size belongs well below the limit. A stop may take as long as
# `timeouts { drain }`, 30 s, which is more than Docker waits unasked. The health check wants the rule file's `admin`.
#
# A sidecar in its application's network runs with proxy.conf.example as it is. Behind a published port the proxy is
# not on the loopback interface of its clients: `listen 0.0.0.0:3128`, and `clients { allow … }` for their addresses.

ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim
# For the labels, which cannot be read from a file. `make lint` compares the version with the program's, and `make release-images`
# reads both, the revision from git.
ARG VERSION=0.1.0
ARG REVISION=unknown

FROM ${SWIFT_IMAGE} AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /src
COPY Tests/packages Tests/packages
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && sh Tests/packages build \
    && rm -rf /var/lib/apt/lists/*
COPY LICENSE Makefile Package.swift ./
# Not compiled, but the package description wants the folder of every target that it names.
COPY Tests Tests
COPY Sources Sources
# The Swift library is linked in; what is left to load comes from Debian and must all be there.
RUN make build PACKAGES=: \
    && install -D -s .build/release/attache /out/usr/local/bin/attache \
    && ldd /out/usr/local/bin/attache > /tmp/libraries \
    && if grep -E 'libswift|libFoundation|not found' /tmp/libraries; then exit 1; fi \
    && grep -oE '/[^ ]+\.so[^ ]*' /tmp/libraries | sort -u | xargs cp -L --parents -t /out \
    && install -d /out/etc/attache /out/run/secrets \
    && install -d -m 700 /owned/var/lib/attache \
    && install -d /owned/etc/ssl/attache \
    && install -d -m 1777 /out/tmp \
    && install -D -m 644 LICENSE /out/usr/share/doc/attache/copyright \
    && rm -rf .build
# The system's authorities, the libraries' licences (those of GCC share theirs), what tells a scanner which packages they are
# from, and the same as a bill of materials.
RUN install -d /out/var/lib/dpkg/status.d \
    && install -D -m 644 -t /out/etc /etc/os-release \
    && install -D -m 644 -t /out/etc/ssl/certs /etc/ssl/certs/ca-certificates.crt \
    && cp --parents -t /out /usr/share/doc/gcc-*-base/copyright \
    && { echo ca-certificates; find /out -name '*.so*' -printf '*/%f\n' | xargs dpkg-query -S | sed '/^diversion /d; s/:.*//'; } \
        | sort -u > /tmp/packages \
    && swift --version 2>&1 | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' > /swift-version \
    && xargs sh Sources/attache/Packaging/sbom /out/usr/local/bin/attache "$(cat /swift-version)" < /tmp/packages \
        > /out/usr/share/doc/attache/sbom.spdx.json \
    && while read -r package; do \
        dpkg-query -s "$package" > "/out/var/lib/dpkg/status.d/$package" \
        && licence="/usr/share/doc/$package/copyright" \
        && if [ -e "$licence" ]; then install -D -m 644 "$licence" "/out$licence"; fi || exit 1; \
    done < /tmp/packages

FROM scratch AS minimal
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="attache" \
    org.opencontainers.image.description="An authenticating forward proxy for tools that cannot" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$REVISION"
COPY --from=build /out /
# A new volume takes over the owner of what it covers: the state, and the certificate for tools.
COPY --from=build --chown=65532:65532 /owned/var/lib /var/lib/
COPY --from=build --chown=65532:65532 /owned/etc/ssl /etc/ssl/
USER 65532:65532
EXPOSE 3128
HEALTHCHECK --interval=10s --timeout=3s --start-period=2s CMD ["/usr/local/bin/attache", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/attache"]
CMD ["run"]

FROM ${DEBIAN_IMAGE} AS runtime
ARG PAC_PACKAGE=libpacparser1
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libc-ares2 libcrypt1 libcurl4 libgssapi-krb5-2 \
        libnghttp2-14 "$PAC_PACKAGE" libpq5 libsqlite3-0 libssl3 libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && install -d /etc/attache /run/secrets \
    && install -d -o 65532 -g 65532 -m 700 /var/lib/attache \
    && install -d -o 65532 -g 65532 /etc/ssl/attache
COPY --from=build /out/usr/local/bin/attache /usr/local/bin/attache
COPY --from=build /out/usr/share/doc/attache/copyright /usr/share/doc/attache/copyright

# The packages of this image are others than those of the stage that compiles.
FROM runtime AS inventory
COPY --from=build /src/Sources/attache/Packaging/sbom /swift-version /tmp/
RUN sh /tmp/sbom /usr/local/bin/attache "$(cat /tmp/swift-version)" > /tmp/sbom.spdx.json

FROM runtime
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="attache" \
    org.opencontainers.image.description="An authenticating forward proxy for tools that cannot" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$REVISION"
COPY --from=inventory /tmp/sbom.spdx.json /usr/share/doc/attache/sbom.spdx.json
USER 65532:65532
# Fails here, not at the first start, when a library above is missing.
RUN ["/usr/local/bin/attache", "version"]
EXPOSE 3128
HEALTHCHECK --interval=10s --timeout=3s --start-period=2s CMD ["/usr/local/bin/attache", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/attache"]
CMD ["run"]
