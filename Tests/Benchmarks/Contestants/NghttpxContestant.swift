/// nghttpx of nghttp2, whose library Attaché uses, as a forward proxy: clients come by HTTP/2 with TLS.
enum NghttpxContestant {
    static let isInstalled = (try? Child.run(["nghttpx", "--version"])) != nil

    /// - Parameter speaksHTTP2: whether the origin is spoken to by HTTP/2 and TLS.
    static func streams(origin: UInt16, speaksHTTP2: Bool, _ certificates: Certificates) -> Contestant {
        // It compares a certificate with a name only, never with an address.
        let backend = speaksHTTP2 ? ";;tls;proto=h2;sni=localhost" : ""
        return Contestant(
            name: "nghttpx", route: { .forward(proxy: $0) },
            configuration: { port, _ in
                // In more than one process, the CPU time would be that of the first. Its default is 8 requests to an origin at
                // once.
                """
                http2-proxy=yes
                single-process=yes
                workers=1
                frontend=127.0.0.1,\(port)
                backend=127.0.0.1,\(origin)\(backend)
                private-key-file=\(certificates.key)
                certificate-file=\(certificates.chain)
                cacert=\(certificates.root)
                no-ocsp=yes
                backend-connections-per-host=1000

                """
            },
            command: { ["nghttpx", "--conf=\($0)"] })
    }
}
