extension ManualTopic {
    static let tools = ManualTopic(
        "tools", "how to make each tool use the proxy",
        """
        Use this page to send a tool through the proxy. Most tools read environment variables, and `attache env` prints
        them. If a route says `intercept`, the tool must also trust the proxy's CA. Then `attache env` writes the CA files
        too, and the variables name them.

            $ eval "$(attache env)"
            $ attache env --directory /etc/attache/tools

        tools.pem and tools.p12 have the CAs of the system and that of the proxy. ca.pem has that of the proxy only. The
        files are in the directory that `state` names. Other users and containers cannot read that directory: write the
        files for them with `attache env --directory`. There ca.pem is called attache-ca.pem, and there is no key beside it.

        = curl
        Reads the variables; http_proxy in small letters only. To set it for good, write `proxy = "http://127.0.0.1:3128"`
        and `cacert = "…/tools.pem"` in ~/.curlrc.

        = wget
        Reads http_proxy and https_proxy. Debian's wget uses GnuTLS and reads no variable for CAs. Use
        `--ca-certificate="$SSL_CERT_FILE"`, or write `ca_certificate = …/tools.pem` in ~/.wgetrc.

        = git
        Reads the variables. To set it for good, run `git config --global http.proxy http://127.0.0.1:3128`, and set
        http.sslCAInfo in the same way.

        = apt
        Runs as root, and downloads as another user. In /etc/apt/apt.conf.d/80proxy write `Acquire::http::Proxy
        "http://127.0.0.1:3128";`, the same for `Acquire::https::Proxy`, and `Acquire::https::CaInfo
        "/etc/attache/tools/tools.pem";`.

        = pip, requests, urllib
        Read the variables: https_proxy, and PIP_CERT, REQUESTS_CA_BUNDLE, SSL_CERT_FILE. To set it for good, run `pip
        config set global.proxy`, and set global.cert.

        = npm, Node
        npm reads https_proxy and NODE_EXTRA_CA_CERTS. To set it for good, run `npm config set proxy`, and set https-proxy
        and cafile. A Node program uses a proxy only if its code does so. Since Node 24, NODE_USE_ENV_PROXY=1 is enough.

        = Java, Maven, Gradle
        Read JAVA_TOOL_OPTIONS, which sets -Dhttp.proxyHost, -Dhttps.proxyHost and -Djavax.net.ssl.trustStore. Java
        prints on standard error that it picked them up.

        = .NET
        HttpClient reads http_proxy, https_proxy and no_proxy. On Linux it trusts the file in SSL_CERT_FILE.

        = Go
        Reads HTTP_PROXY and SSL_CERT_FILE. Requests to localhost and 127.0.0.1 never use a proxy.

        = Docker
        Run `attache env --shell docker > proxy.env`, then `docker run --env-file proxy.env`. The container must share the
        proxy's network, and mount the CA files at the paths in the variables. For `docker build`, use --build-arg
        http_proxy and --network host. For the daemon's own pulls, use a drop-in of docker.service, as for systemd units.

        = Kubernetes, compose
        `attache deploy` prints manifests with all of this. The application's container shares the proxy's network. It
        mounts a volume of CA files, which `attache env --directory` fills before the application starts. SSL_CERT_FILE,
        CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE, PIP_CERT, GIT_SSL_CAINFO and AWS_CA_BUNDLE name tools.pem. NODE_EXTRA_CA_CERTS
        and DENO_CERT name attache-ca.pem. The trust store in JAVA_TOOL_OPTIONS is tools.p12.

        = systemd units
        Write the output of `attache env --shell systemd` to /etc/systemd/system/NAME.service.d/proxy.conf. Then run
        `systemctl daemon-reload`. The unit's user must be able to read the CA files: use `--directory`.

        = cron
        A crontab takes lines NAME=VALUE, without `export` and without quotes: `attache env --shell docker` prints such
        lines. Or run `attache env > /etc/attache/tools/env.sh`, and begin the command with `. /etc/attache/tools/env.sh;`.

        A tool that pins the certificates of its servers cannot be helped. For one that cannot use a proxy, a firewall redirects its
        connections ('attache help transparent').
        """)
}
