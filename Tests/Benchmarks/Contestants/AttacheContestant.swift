import Model

/// Attaché as a contestant: one loop, no log, clients and destinations on this machine.
enum AttacheContestant {
    /// The work on a request besides the relay.
    enum Rules {
        case plain
        /// Like `plain`, with an access log.
        case logged
        /// Address rules, routes and challenges that do not match, and then a Digest space whose password is known.
        case full(digestPort: UInt16)
        /// TLS to the origin, which the root `anchor` vouches for, also for requests without.
        case originating(anchor: String, upgrades: Bool = true)
        /// HTTP/2 to origins without TLS, since they are known to speak it.
        case knowing
        /// Everything through a parent proxy that wants a login.
        case loggingIn(SquidParent.Scheme, parent: UInt16)
        /// An origin that wants `method`, answered by a rule with such modifiers, behind so many others that no index serves.
        case answering(_ method: AuthenticationMethod, origin: UInt16, modifiers: String = "", others: Int = 0)
        /// An origin that wants a Bearer token, for which its `/token` is asked by OAuth.
        case exchanging(origin: UInt16)
        /// Like `plain`, with this number of credentials for other hosts, each with a placeholder.
        case placeholders(Int)
        /// Tunnels that are looked into, besides.
        case intercepting(Certificates)
        /// Like `plain`, with a dashboard at that port.
        case watched(admin: UInt16)
        /// Like `plain`, with a rule that asks an operator about each Basic challenge of that origin.
        case asking(origin: UInt16)
        /// Like `plain`, with the credentials of a store in that directory.
        case stored(directory: String)
    }

    static func forward(_ binary: String, _ rules: Rules = .plain) -> Contestant {
        contestant(binary, rules) { .forward(proxy: $0) }
    }

    /// HTTP/1.1 to the proxy, with the fields of h2load, and HTTP/2 without TLS behind.
    static func known(_ binary: String) -> Contestant { contestant(binary, .knowing) { .simpleForward(proxy: $0) } }

    static func stored(_ binary: String, in directory: String) -> Contestant {
        forward(binary, .stored(directory: directory))
    }

    static func tunnel(_ binary: String) -> Contestant {
        contestant(binary, .plain) { .tunnel(proxy: $0) }
    }

    /// Clients come by TLS.
    static func secureForward(_ binary: String, _ certificates: Certificates) -> Contestant {
        contestant(binary, .plain, listening: " tls certificate \(certificates.chain) key \(certificates.key)") {
            .secureForward(proxy: $0)
        }
    }

    /// Clients come by HTTP/2: with TLS, or by prior knowledge. With TLS they may also come by HTTP/1.1.
    /// - Parameter rules: nil: origins with TLS have a certificate by the root.
    static func streams(
        _ binary: String, _ certificates: Certificates, isSecure: Bool = true, _ rules: Rules? = nil
    ) -> Contestant {
        let tls = " tls certificate \(certificates.chain) key \(certificates.key) http2 yes"
        return contestant(
            binary, rules ?? .originating(anchor: certificates.root, upgrades: false),
            listening: isSecure ? tls : " h2c"
        ) { .forward(proxy: $0) }
    }

    static func intercept(_ binary: String, _ certificates: Certificates) -> Contestant {
        contestant(binary, .intercepting(certificates)) { .intercepted(proxy: $0) }
    }

    private static func contestant(
        _ binary: String, _ rules: Rules, listening tls: String = "", route: @escaping @Sendable (UInt16) -> Route
    ) -> Contestant {
        Contestant(
            name: "attache", route: route,
            configuration: { port, directory in text("\(port)\(tls)", directory, rules) },
            command: { [binary, "run", "--config", $0] })
    }

    private static func text(_ port: String, _ directory: String, _ rules: Rules) -> String {
        let log = if case .logged = rules { "json file \(directory)/access.log" } else { "off" }
        let common = """
            listen 127.0.0.1:\(port)
            threads 1
            state \(directory)/state
            log \(log)

            """
        switch rules {
        case .plain, .logged:
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }

                """
        case .watched(let admin):
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                admin 127.0.0.1:\(admin)

                """
        case .asking(let origin):
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                timeouts { ask 600s }
                challenge { host 127.0.0.1; port \(origin); method basic; ask }

                """
        case .stored(let directory):
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                store sqlite \(directory)/credentials.db { key file \(directory)/store.key }

                """
        case .originating(let anchor, let upgrades):
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                \(upgrades ? "route 127.0.0.1 { upgrade }" : "")
                challenge { host 127.0.0.1; method server-trust; anchor \(anchor) only; trust }

                """
        case .loggingIn(let scheme, let parent):
            let domain = scheme == .ntlm ? "\(SquidParent.domain)\\\\" : ""
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                credential bench { user "\(domain)\(SquidParent.user)"; password \(SquidParent.password) }
                parent squid { http 127.0.0.1:\(parent) }
                route * { via squid }
                challenge { proxy yes; method \(scheme.rawValue); use bench }

                """
        case .answering(let method, let origin, let modifiers, let others):
            let domain = method == .ntlm ? "D\\\\" : ""
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                credential bench { user "\(domain)\(DigestGuard.user)"; password \(DigestGuard.password) }
                \((0..<others).map(other).joined(separator: "\n"))
                challenge { host 127.0.0.1; port \(origin); method \(method.rawValue); use bench; \(modifiers) }

                """
        case .exchanging(let origin):
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                credential bench { oauth2 http://127.0.0.1:\(origin)/token; client-id bench; client-secret \(DigestGuard.password) }
                challenge { host 127.0.0.1; port \(origin); method bearer; use bench }

                """
        case .placeholders(let count):
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                \((0..<count).map(placeholder).joined(separator: "\n"))

                """
        case .intercepting(let certificates):
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                authority { certificate \(certificates.authority); key \(certificates.authorityKey) }
                route 127.0.0.1 { intercept }
                challenge { host 127.0.0.1; method server-trust; anchor \(certificates.root) only; trust }

                """
        case .knowing:
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }
                route 127.0.0.1 { http2 prior-knowledge }

                """
        case .full(let digestPort):
            return common + """
                clients { allow 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 127.0.0.0/8 }
                egress { deny link-local multicast; deny 10.0.0.0/8 192.0.2.0/24; allow 127.0.0.0/8; connect-ports 443 8443 }
                credential other { user nobody; password none }
                credential bench { user \(DigestGuard.user); password \(DigestGuard.password) }
                route *.blocked.example { deny }
                route ads.example { deny }
                route *.corp.example { tunnel }
                challenge { host ci.example.com; use other }
                challenge { host *.example.org; method basic; use other }
                challenge { host 127.0.0.1; port \(digestPort); method digest; use bench }

                """
        }
    }

    private static func placeholder(_ number: Int) -> String {
        """
        credential key-\(number) { token secret-\(number); placeholder "sk-attache-placeholder-\(number)" }
        challenge { host api-\(number).example.com; secure yes; use key-\(number) }
        """
    }

    /// A rule that does not hold, and that is found to by being looked at: its hosts, realm or client are a pattern.
    private static func other(_ number: Int) -> String {
        switch number % 4 {
        case 0: "route ci-*-\(number).example.com { tunnel }"
        case 1: "challenge { host ci-*-\(number).example.com; use bench }"
        case 2: "challenge { realm \"*project \(number)*\"; use bench }"
        default: "challenge { client 10.0.\(number / 250).\(number % 250); use bench }"
        }
    }
}
