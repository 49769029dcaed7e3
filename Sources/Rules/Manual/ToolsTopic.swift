extension ManualTopic {
    static let tools = ManualTopic(
        "tools", "how each tool is led through the proxy",
        """
        `attache env` prints the variables for a shell, a container or a unit; where the rules look into tunnels, the files
        that tools trust are among them: tools.pem and tools.p12 have the system's authorities and the proxy's, ca.pem the
        proxy's alone. They are in the directory that `state` names, or in that of `attache env --directory`, for tools of
        other users and in other containers; ca.pem is attache-ca.pem there, and no key lies beside it.

            $ eval "$(attache env)"
            $ attache env --directory /etc/attache/tools

        = curl
        It takes the variables; http_proxy in small letters only. Lasting: `proxy = "http://127.0.0.1:3128"` and
        `cacert = "…/tools.pem"` in ~/.curlrc.

        = wget
        It takes http_proxy and https_proxy. Debian's is built with GnuTLS and looks at none of the files: say
        `--ca-certificate="$SSL_CERT_FILE"`, or `ca_certificate = …/tools.pem` in ~/.wgetrc.

        = git
        It takes the variables. Lasting: `git config --global http.proxy http://127.0.0.1:3128`, and http.sslCAInfo.

        = apt
        It runs as root and as another user: in /etc/apt/apt.conf.d/80proxy, `Acquire::http::Proxy
        "http://127.0.0.1:3128";`, `Acquire::https::Proxy` likewise, and `Acquire::https::CaInfo "/etc/attache/tools/tools.pem";`.

        = pip, requests, urllib
        They take the variables: https_proxy, and PIP_CERT, REQUESTS_CA_BUNDLE, SSL_CERT_FILE. Lasting:
        `pip config set global.proxy`, and global.cert.

        = npm, Node
        npm takes https_proxy and NODE_EXTRA_CA_CERTS; lasting: `npm config set proxy`, https-proxy and cafile. A program
        for Node goes through a proxy only if it says so itself, or, since Node 24, with NODE_USE_ENV_PROXY=1.

        = Java, Maven, Gradle
        They take JAVA_TOOL_OPTIONS: -Dhttp.proxyHost, -Dhttps.proxyHost and -Djavax.net.ssl.trustStore are in it. Java says
        on standard error that it picked them up.

        = .NET
        HttpClient takes http_proxy, https_proxy and no_proxy; on Linux it trusts what SSL_CERT_FILE names.

        = Go
        It takes HTTP_PROXY and SSL_CERT_FILE. Requests for localhost and 127.0.0.1 never go to a proxy.

        = Docker
        `docker run --env-file proxy.env`, from `attache env --shell docker`; the container has to share the proxy's
        network, and the files have to be mounted where the variables say. For `docker build`, --build-arg http_proxy and
        --network host. The daemon's own pulls: a drop-in of docker.service, as below.

        = Kubernetes, compose
        The application's container shares the proxy's network, and has a volume of the files, which `attache env
        --directory` fills before it starts; `attache deploy` prints both, and every variable. SSL_CERT_FILE,
        CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE, PIP_CERT, GIT_SSL_CAINFO and AWS_CA_BUNDLE name tools.pem, NODE_EXTRA_CA_CERTS
        and DENO_CERT attache-ca.pem, and the trust store in JAVA_TOOL_OPTIONS is tools.p12.

        = systemd units
        `attache env --shell systemd` in /etc/systemd/system/NAME.service.d/proxy.conf, then `systemctl daemon-reload`. The
        files belong where the unit's user can read them: `--directory`.

        = cron
        A crontab takes lines NAME=VALUE, without `export` and without quotes: those of `attache env --shell docker`. Or the
        command begins with `. /etc/attache/tools/env.sh;`, where `attache env > /etc/attache/tools/env.sh` has put them.

        A tool that takes no proxy at all, or that pins the certificates of its servers, can be led to the server by
        another name only, and is not helped here.
        """)
}
