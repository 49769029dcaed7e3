/// The index of the manual: the topics for a word.
extension ManualTopic {
    /// The words that people look for, by topic name. A word may lead to several topics.
    static let synonyms: [String: String] = [
        "rules": """
        config configuration proxy.conf syntax include unit size duration hosts pattern wildcard glob env environment
        secret sighup idn
        """,
        "tools": """
        curl wget git apt apt-get pip requests urllib python npm node nodejs deno java jvm maven gradle dotnet .net
        httpclient go golang docker podman container kubernetes k8s pod sidecar compose docker-compose systemd cron
        crontab http_proxy https_proxy no_proxy all_proxy variable variables shell ssl_cert_file requests_ca_bundle
        node_extra_ca_certs java_tool_options curl_ca_bundle git_ssl_cainfo browser
        """,
        "challenge": """
        401 407 www-authenticate proxy-authenticate basic digest ntlm scheme auth authentication predicate condition
        dry-run 502 proxy-status sso cookie
        """,
        "credential": "password secret username account rotation rotate ntlm vault login logon",
        "refusals": """
        lockout lock-out lock locked parked park hold on-hold held paused pause doubted unproven refused refusal
        wrong-password brute-force backoff 401
        """,
        "preemptive": "unasked preemptively api-key apikey x-api-key api_key 404 pre-authentication 401",
        "placeholders":
            "placeholder fake dummy key api-key apikey openai anthropic sdk llm agent sandbox swap inject substitute",
        "forms": "login-page html html-form cookie 302 redirect csrf jsessionid logon sso",
        "negotiate": """
        kerberos spnego sso single-sign-on gssapi gss active-directory ad kdc krb5 krb5.conf ticket iwa windows
        constrained-delegation
        """,
        "tokens": "bearer oauth oidc openid jwt access-token refresh client-credentials entra okta keycloak",
        "discovery": "mcp oauth oidc rfc9728 resource issuer well-known scope insufficient_scope 403",
        "registries": """
        registry oci image images pull push podman skopeo buildah harbor quay gitlab gitea ghcr ecr acr
        bearer token scope realm
        """,
        "helpers": """
        helper git-credential docker-credential pass gopass keyring secret-tool vault openbao op 1password run command exec
        program password-manager gh gcloud
        """,
        "certificates": "mtls client-certificate client-cert p12 pfx smartcard hsm pem x509 x.509 identity 495",
        "aws": "s3 sigv4 sigv4a amazon minio signature sign signing",
        "oauth1": """
        oauth1.0a oauth-1.0 oauth_signature consumer-key netsuite magento woocommerce twitter jira rfc5849 signature sign
        signing hmac
        """,
        "bots": """
        web-bot-auth signature-agent accept-signature message-signatures http-signatures rfc9421 crawler cloudflare waf
        bot-wall ed25519 signature sign signing agent
        """,
        "operators": "operator person human question webhook slack approval interactive manual mfa 2fa otp",
        "trust": """
        self-signed expired untrusted certificate-error pinning verify verification insecure ssl tls x509 ocsp revoked
        server-trust certificate-verify-failed 502 exception
        """,
        "routes": "https connect mitm interception decrypt tls ssl crl revocation gzip deflate websocket 403",
        "http2": "http/2 h2 alpn grpc grpc-status grpc-timeout unauthenticated multiplexing stream streams rapid-reset",
        "authority": """
        ca cas root root-ca ca-certificate ca-certificates ca-bundle mitm interception https truststore trust-store
        cacerts keystore ssl name-constraints
        """,
        "parents": """
        parent upstream upstream-proxy corporate company chain chaining proxy-chain socks socks4 wpad autoconfig
        proxy.pac 407 squid cntlm px bypass failover no_proxy proxy-authorization ntlm
        """,
        "listen": """
        haproxy proxy-protocol send-proxy load-balancer balancer port address health healthz readyz liveness readiness prometheus grafana openmetrics practice
        systemd socket socket-activation bind container 0.0.0.0
        """,
        "socks":
            "socks5 socks5h socks4 socks4a all_proxy ssh nc netcat proxychains pysocks tsocks torsocks rfc1928 rfc1929",
        "sockets": "unix unix-socket uds af_unix socat sock as name identity uid peer",
        "sandboxes": "sandbox bubblewrap bwrap firejail network-none unshare namespace isolation agent container jail",
        "transparent": """
        redirect tproxy iptables nftables iptables-redirect intercepting-proxy so_original_dst sni original-destination
        ip_transparent router gateway
        """,
        "dashboard": "page browser web ui gui admin token csv export filter requests latency phone",
        "clients": """
        407 proxy-authenticate proxy-authorization login htpasswd htdigest acl allowlist whitelist spiffe mtls ip 403
        client-authentication auth
        """,
        "egress": """
        ssrf firewall metadata 169.254.169.254 imds private rfc1918 loopback localhost link-local dns rebinding
        dns-rebinding 403 acl allowlist blocklist outbound
        """,
        "store": """
        sqlite postgresql postgres pgbouncer database db netrc import export backup replica cluster ha
        high-availability migrate rekey encryption aes persistent standby
        """,
        "ftp": "ftps anonymous 530 430",
        "log": """
        logs logging access-log accesslog syslog journald rsyslog squid apache audit event json logrotate sigusr1 siem
        """,
        "traces": "tracing opentelemetry otel otlp traceparent tracestate span jaeger zipkin trace-context",
        "limits": "timeout 408 413 414 431 503 504 memory body upload expect 100-continue size slow buffer bomb",
        "json": "schema field contract jq metric",
        "fail2ban": "ban brute-force intrusion jail",
        "recipes": "recipe cookbook examples howto how-to example",
        "recipe-prometheus": "scrape scraping exporter blackbox snmp exporters node-exporter windows-exporter",
        "recipe-camera": "cameras ipcam onvif isapi axis hikvision snapshot nvr appliance",
        "recipe-language": "perl lwp python2 urllib2 legacy",
        "recipe-build": "terraform cargo nuget",
        "recipe-git": "clone push gitlab jenkins runner",
        "recipe-windows": "winrm ews exchange ansible pywinrm iis sharepoint epa",
        "recipe-kerberos": "kinit krb5cc",
        "recipe-agent": "ai llm sandbox openai mcp",
        "glossary": "term word definition vocabulary protection-space space",
    ]

    private var words: [String] {
        [name] + (Self.synonyms[name] ?? "").split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// The topics that list the word, in the order of the manual. Case and a final `s` are ignored.
    public static func listing(_ word: String) -> [ManualTopic] {
        let word = word.lowercased()
        let forms = [word, word + "s", word.hasSuffix("s") ? String(word.dropLast()) : word]
        return all.filter { topic in topic.words.contains { forms.contains($0) } }
    }

    /// The topics with the most mentions of a word in their text, at most `count`, the most first.
    public static func mentioning(_ word: String, count: Int) -> [ManualTopic] {
        let word = word.lowercased()
        guard word.count > 1 else { return [] }
        let found = all.map { ($0, Self.mentions(of: word, in: ManualText.of($0, width: 79))) }.filter { $0.1 > 0 }
        return found.sorted { $0.1 > $1.1 }.prefix(count).map(\.0)
    }

    private static func mentions(of word: String, in text: String) -> Int {
        let words = text.lowercased().split { $0.isWhitespace || "`'\"(){}[]<>,;:".contains($0) }
        return words.count { $0 == word || $0.hasSuffix(".") && $0.dropLast() == word }
    }

    /// The topics with the words that are most similar to `word`, the nearest first.
    public static func nearest(to word: String, count: Int) -> [ManualTopic] {
        let typed = Array(word.lowercased().prefix(40).utf8)
        let ranked = all.enumerated().map { number, topic in
            let distances = (topic.words + topic.entries.map(\.name)).map { likeness(typed, Array($0.utf8)) }
            return (distance: distances.min() ?? .max, number: number, topic: topic)
        }
        return ranked.sorted { ($0.distance, $0.number) < ($1.distance, $1.number) }.prefix(count).map(\.topic)
    }

    /// The number of edits between two words; zero if one begins with the other.
    private static func likeness(_ typed: [UInt8], _ word: [UInt8]) -> Int {
        let common = min(typed.count, word.count)
        if common > 2, typed.prefix(common) == word.prefix(common) { return 0 }
        return Suggestion.distance(typed, word)
    }
}
