/// HAProxy, the measure of what is possible: one thread, no log, a backend that is the origin.
enum HAProxyContestant {
    /// Plain HTTP, connections to the origin always reused.
    static func forward(_ binary: String, origin: UInt16, splices: Bool = false) -> Contestant {
        let splice = splices ? "option splice-request\n    option splice-response" : ""
        return contestant(binary, splices ? "haproxy spliced" : "haproxy", isRelay: false) { port in
            """
            defaults
                mode http
                \(timeouts)
                \(splice)
            frontend clients
                bind 127.0.0.1:\(port)
                default_backend origin
            backend origin
                http-reuse always
                server origin 127.0.0.1:\(origin)

            """
        }
    }

    /// TLS to the origin.
    /// - Parameter resumes: whether sessions are taken up again.
    static func originating(
        _ binary: String, origin: UInt16, anchor: String, resumes: Bool = true
    ) -> Contestant {
        let reuse = resumes ? "" : " no-ssl-reuse"
        return contestant(binary, "haproxy", isRelay: false) { port in
            """
            defaults
                mode http
                \(timeouts)
            frontend clients
                bind 127.0.0.1:\(port)
                default_backend origin
            backend origin
                http-reuse always
                server origin 127.0.0.1:\(origin) ssl verify required ca-file \(anchor)\(reuse)

            """
        }
    }

    /// Clients come by TLS.
    static func secureForward(_ binary: String, origin: UInt16, _ certificates: Certificates) -> Contestant {
        let plain = forward(binary, origin: origin)
        return Contestant(
            name: plain.name, route: { .secureForward(proxy: $0) },
            configuration: { port, directory in
                plain.configuration(port, directory).replacing(
                    "bind 127.0.0.1:\(port)", with: "bind 127.0.0.1:\(port) ssl crt \(certificates.bundle)")
            },
            command: plain.command)
    }

    /// Clients come by HTTP/2 with TLS.
    /// - Parameter backend: the origin, and how it is spoken to.
    static func streams(_ binary: String, backend: String, _ certificates: Certificates) -> Contestant {
        contestant(binary, "haproxy", isRelay: false) { port in
            """
            defaults
                mode http
                \(timeouts)
            frontend clients
                bind 127.0.0.1:\(port) ssl crt \(certificates.bundle) alpn h2
                default_backend origin
            backend origin
                http-reuse always
                server origin \(backend)

            """
        }
    }

    /// A blind relay to the origin that splices: what a tunnel costs HAProxy, which answers no CONNECT by itself.
    static func relay(_ binary: String, origin: UInt16) -> Contestant {
        contestant(binary, "haproxy", isRelay: true) { port in
            """
            defaults
                mode tcp
                \(timeouts)
                option splice-request
                option splice-response
            listen relay
                bind 127.0.0.1:\(port)
                server origin 127.0.0.1:\(origin)

            """
        }
    }

    private static func contestant(
        _ binary: String, _ name: String, isRelay: Bool, sections: @escaping (UInt16) -> String
    ) -> Contestant {
        Contestant(
            name: name,
            route: { isRelay ? .relay(port: $0) : .forward(proxy: $0) },
            configuration: { port, _ in global + sections(port) },
            command: { [binary, "-db", "-f", $0] })
    }

    private static let timeouts = "timeout connect 5s\n    timeout client 600s\n    timeout server 600s"

    private static let global = """
        global
            nbthread 1
            maxconn 8000
            no strict-limits
            tune.pipesize 1048576

        """
}
