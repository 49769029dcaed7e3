extension ManualTopic {
    static let recipes = ManualTopic(
        "recipes", "rule files for common tools and servers",
        """
        Each recipe is a whole rule file of a few lines, with the settings of the tool. Change the names, and check it:

            $ attache check --config proxy.conf
            $ attache run --config proxy.conf

        \(recipePages.map { "| \($0.name) | \($0.title)" }.joined(separator: "\n"))

        `attache help recipe-git` shows one of them. `attache init URL` writes such a file for one server, and tries the login
        once. 'attache help tools' has the settings of all tools.
        """)

    /// The recipes, one a page.
    static let recipePages = [
        ManualTopic(
            "recipe-prometheus", "Prometheus and exporters with Digest or NTLM",
            #"""
            Prometheus knows Basic and Bearer only. Have it scrape through this proxy, which answers Digest and NTLM.

                listen 127.0.0.1:3128
                admin 127.0.0.1:3127
                credential scrape { user prometheus; password file /etc/attache/scrape.password }
                credential windows { user "CORP\\prometheus"; password file /etc/attache/windows.password }
                challenge "digest exporters" { host *.dev.example.com; port 9100; method digest; use scrape }
                challenge "windows exporters" { host *.win.example.com; port 9182; method ntlm; use windows }

            In prometheus.yml, each job names the proxy:

                prometheus.yml:
                scrape_configs:
                  - job_name: appliances
                    proxy_url: http://127.0.0.1:3128
                    static_configs: [{targets: ["sensor.dev.example.com:9100"]}]

            blackbox_exporter has `proxy_url` in the `http` part of a module. For an exporter with https, add
            `route *.win.example.com { upgrade 9182 }` and let the job use http: the proxy speaks TLS.
            """#),
        ManualTopic(
            "recipe-camera", "cameras, recorders and other appliances with Digest",
            """
            Cameras ask for Digest, often with a certificate of their own. Tools such as ffmpeg, curl scripts and home
            automation then need no password.

                listen 127.0.0.1:3128
                credential camera { user viewer; password file /etc/attache/camera.password }
                challenge "cameras" { host cam*.example.com; method digest; use camera }
                challenge "camera certificates" {
                    host cam*.example.com; method server-trust; allow self-signed
                    pin sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=; until 2099-12-31; trust
                }
                route cam7.example.com { upgrade }

            The tool uses http, also for the camera with https:

                $ curl -x http://127.0.0.1:3128 -o shot.jpg http://cam7.example.com/snapshot.jpg
                $ http_proxy=http://127.0.0.1:3128 ffmpeg -i http://cam3.example.com/video.mjpg -t 10 clip.mkv

            `attache trust cam7.example.com:443` shows the pin. RTSP is not HTTP, and does not use the proxy.
            """),
        ManualTopic(
            "recipe-language", "Java, .NET, Perl and Python 2 programs",
            """
            Old HTTP libraries know few schemes: Java's java.net.http knows Basic, Perl's LWP and Python 2 know Basic and
            Digest. The proxy answers for them. With `upgrade` the program uses http, and needs no CA.

                listen 127.0.0.1:3128
                credential app { user app; password file /etc/attache/app.password }
                credential svc { kerberos app@CORP.EXAMPLE.COM; keytab /etc/attache/app.keytab }
                challenge "service" { host api.corp.example.com; method digest basic; secure yes; use app }
                challenge "intranet" { host *.corp.example.com; method negotiate; use svc }
                route *.corp.example.com { upgrade }

            Each program gets the proxy in its own way:

                $ java -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 App
                $ http_proxy=http://127.0.0.1:3128 dotnet App.dll
                $ http_proxy=http://127.0.0.1:3128 perl -MLWP::UserAgent -e 'LWP::UserAgent->new(env_proxy => 1)'
                $ http_proxy=http://127.0.0.1:3128 python2 -c 'import urllib2'

            Java does not use the proxy for localhost. For a program that insists on https, write `intercept` in place of
            `upgrade`, and run `eval "$(attache env)"` before it.
            """),
        ManualTopic(
            "recipe-build", "Maven, Gradle, npm, pip, apt and Terraform behind an NTLM parent",
            #"""
            The company proxy wants NTLM, and the build tools know Basic at most. This proxy logs in to it, also for the
            tunnels of https. The tools' own trust stays as it is.

                listen 127.0.0.1:3128
                parent corp { http proxy.corp.example.com:8080; except 10.0.0.0/8 *.corp.example.com }
                route * { via corp }
                credential corp { user "CORP\\builder"; password file /etc/attache/corp.password }
                challenge "corp proxy" { proxy yes; host proxy.corp.example.com; method ntlm; use corp }

            apt, Maven and Gradle have settings of their own, and the others read the variables:

                /etc/apt/apt.conf.d/80proxy:
                Acquire::http::Proxy "http://127.0.0.1:3128";
                Acquire::https::Proxy "http://127.0.0.1:3128";

                $ export JAVA_TOOL_OPTIONS="-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128"
                $ export http_proxy=http://127.0.0.1:3128 https_proxy=http://127.0.0.1:3128
                $ npm ci && pip install -r requirements.txt && terraform init

            A wrong password is sent once, and then on hold: no build locks the account. A parent with Kerberos is the same
            with `method negotiate` and a `kerberos` credential.
            """#),
        ManualTopic(
            "recipe-git", "git over https in CI",
            """
            A CI job clones and pushes without a token in its environment, its URL or its log. The token is in a file that
            only the proxy reads.

                listen 127.0.0.1:3128
                credential ci { user ci-bot; password file /etc/attache/git.token }
                challenge "git server" { host git.example.com; method basic; secure yes; use ci }
                route git.example.com { upgrade }
                route * { deny }

            With `upgrade` git uses http, and the proxy asks the server by https:

                $ git config --global http.proxy http://127.0.0.1:3128
                $ git config --global url.http://git.example.com/.insteadOf https://git.example.com/
                $ git clone https://git.example.com/team/app.git

            A git server with Kerberos or NTLM works in the same way, with `method negotiate` or `method ntlm`.
            """),
        ManualTopic(
            "recipe-windows", "WinRM, EWS and other Windows services",
            #"""
            IIS, WinRM and Exchange ask for Negotiate or NTLM. With Extended Protection they also want the login bound to the
            TLS connection. The proxy does that, since the connection is its own.

                listen 127.0.0.1:3128
                credential domain { user "CORP\\automation"; password file /etc/attache/domain.password }
                credential kerberos { kerberos automation@CORP.EXAMPLE.COM; keytab /etc/attache/automation.keytab }
                challenge "winrm" { host *.srv.corp.example.com; port 5986; method ntlm; authorization replace; use domain }
                challenge "exchange" { host mail.corp.example.com; method negotiate; authorization replace; use kerberos }
                challenge "by password" { host mail.corp.example.com; method ntlm; failures 1; authorization replace; use domain }
                route *.srv.corp.example.com { upgrade 5986 }
                route mail.corp.example.com { upgrade }

            pywinrm and Ansible send Basic with any password, over http. `authorization replace` puts the login in its place:

                inventory.ini:
                [windows:vars]
                ansible_connection=winrm
                ansible_winrm_transport=basic
                ansible_port=5985
                ansible_winrm_scheme=http
                ansible_winrm_proxy=http://127.0.0.1:3128

                $ curl -x http://127.0.0.1:3128 http://mail.corp.example.com/EWS/Exchange.asmx

            Without `authorization replace` the server would get the client's own Authorization.
            """#),
        ManualTopic(
            "recipe-kerberos", "Kerberos in a container",
            """
            A container has no kinit, no ticket cache and no clock of its own. The proxy in it, or beside it in the pod, gets
            and renews tickets from a keytab.

                listen 127.0.0.1:3128
                state /var/lib/attache
                log json stdout
                credential svc { kerberos svc@CORP.EXAMPLE.COM; keytab /run/secrets/svc.keytab }
                challenge "intranet" { host *.corp.example.com; method negotiate; use svc }
                route *.corp.example.com { upgrade }

            Mount the keytab and krb5.conf, and let the application share the proxy's network:

                $ docker run --rm -v /srv/svc.keytab:/run/secrets/svc.keytab:ro -e KRB5_CONFIG=/run/secrets/krb5.conf attache

            `attache deploy kubernetes` prints the manifest of a sidecar. In krb5.conf, set `dns_canonicalize_hostname = false`
            if the servers are behind a load balancer, and name the KDC if the container has no DNS for it.
            """),
        ManualTopic(
            "recipe-agent", "the sandbox of an AI agent",
            """
            An agent may call some hosts and no others. It never sees a key: the proxy adds it. The agent's sandbox has no
            other way out than this proxy.

                listen 127.0.0.1:3128
                credential model {
                    token file /etc/attache/model.key; header X-Api-Key; placeholder sk-attache-model-5f0c3d2e9b7a4168
                }
                credential git { user agent; password file /etc/attache/git.token }
                challenge "model" { host api.example.com; secure yes; authorization refuse; use model }
                challenge "git" { host git.example.com; method basic; secure yes; use git }
                limits { requests-per-client 20/s burst 50; concurrent-requests-per-client 20 }
                route api.example.com { intercept }
                route git.example.com { intercept }
                route pypi.org { tunnel }
                route * { deny }

            The agent gets the variables, and a placeholder instead of the key. `attache credential placeholder model --like sk-`
            makes one. The proxy replaces it at this host ('attache help placeholders'), and refuses any other key there.

                $ eval "$(attache env)"
                $ export OPENAI_BASE_URL=https://api.example.com/v1 OPENAI_API_KEY=sk-attache-model-5f0c3d2e9b7a4168

            Block all other ways out, for example by a network namespace. Loopback and metadata addresses are refused by
            default ('attache help egress'). Each request is a line in the log, with the rule and the name of the credential.
            `ask` in a rule lets a person decide ('attache help operators').
            """),
    ]
}
