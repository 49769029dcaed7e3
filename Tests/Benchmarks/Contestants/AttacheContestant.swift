/// Attaché as a contestant: one loop, no log, clients and destinations on this machine.
enum AttacheContestant {
    /// What a request meets beside the relay.
    enum Rules {
        case plain
        /// Address rules, routes and challenges that do not match, and then a Digest space whose password is known.
        case full(digestPort: UInt16)
    }

    static func forward(_ binary: String, _ rules: Rules = .plain) -> Contestant {
        contestant(binary, rules) { .forward(proxy: $0) }
    }

    static func tunnel(_ binary: String) -> Contestant {
        contestant(binary, .plain) { .tunnel(proxy: $0) }
    }

    private static func contestant(
        _ binary: String, _ rules: Rules, route: @escaping @Sendable (UInt16) -> Route
    ) -> Contestant {
        Contestant(
            name: "attache", route: route,
            configuration: { port, directory in text(port, directory, rules) },
            command: { [binary, "run", "--config", $0] })
    }

    private static func text(_ port: UInt16, _ directory: String, _ rules: Rules) -> String {
        let common = """
            listen 127.0.0.1:\(port)
            threads 1
            state \(directory)/state
            log off

            """
        switch rules {
        case .plain:
            return common + """
                clients { allow 127.0.0.0/8 }
                egress { allow 127.0.0.0/8; connect-ports any }

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
}
