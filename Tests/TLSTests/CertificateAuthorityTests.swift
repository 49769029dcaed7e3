import Bytes
import Crypto
import Foundation
import Model
import Testing

@testable import TLS

struct CertificateAuthorityTests {
    private static let now = WallTime(seconds: Int(Date().timeIntervalSince1970))
    private var now: WallTime { Self.now }

    private func authority(_ names: [NameConstraint] = [], at time: WallTime = now) throws -> CertificateAuthority {
        try .make(host: "build-7.example", names: names, at: time)
    }

    private static let bounds = [
        NameConstraint.domain("corp.example", withItself: true), .network(IPAddress(v4: 0x0A01_0000), prefixLength: 17),
    ]
    private static let longName = String(repeating: "a-long-label.", count: 8) + "example"

    /// A folder with the authority and a leaf, for programs that judge.
    private func files(_ authority: CertificateAuthority, _ name: String) throws -> OpenSSLCommand {
        let command = try OpenSSLCommand()
        let leaf = try authority.mint(for: ServerName(name), at: now)
        try command.write(Array(authority.identity.leaf.pem.utf8), to: "ca.pem")
        try command.write(Array(leaf.leaf.pem.utf8), to: "leaf.pem")
        try leaf.key.pem().withBytes { key in try command.write(key.array, to: "leaf.key") }
        return command
    }

    @Test(arguments: ["host.example", "a_b.example", longName, "192.0.2.7", "2001:db8::1"])
    func `OpenSSL finds no fault with a leaf, strictly`(name: String) throws {
        let command = try files(authority(), name)
        defer { command.remove() }
        let option = IPAddress(name) == nil ? "-verify_hostname" : "-verify_ip"
        let verify = "openssl verify -x509_strict -auth_level 2 -purpose sslserver -no-CApath -no-CAstore"
        #expect(try command.run("\(verify) -CAfile ca.pem \(option) \(name) leaf.pem") == "leaf.pem: OK\n")
        #expect(throws: (any Error).self) {
            try command.run("\(verify) -CAfile ca.pem -verify_hostname other.example leaf.pem")
        }
    }

    @Test(arguments: ["host.example", longName, "192.0.2.7"])
    func `an evaluation with the authority as its only anchor finds nothing`(name: String) throws {
        let authority = try authority()
        let leaf = try authority.mint(for: ServerName(name), at: now)
        let anchors = try TrustAnchors(only: [authority.identity.leaf])
        let chain = PresentedChain(leaf: leaf.leaf, others: leaf.intermediates)
        let evaluation = TrustEvaluation.of(chain, for: ServerName(name), anchors: anchors, at: now)
        #expect(evaluation.findings.isEmpty, "\(evaluation.findings)")
        let other = TrustEvaluation.of(chain, for: ServerName("other.example"), anchors: anchors, at: now)
        #expect(other.kinds == [.wrongName])
    }

    @Test(arguments: ["corp.example", "a.b.corp.example", "10.1.127.255"])
    func `names within the constraints have a leaf that is good`(name: String) throws {
        let command = try files(authority(Self.bounds), name)
        defer { command.remove() }
        try command.run(
            "openssl verify -x509_strict -auth_level 2 -purpose sslserver -CAfile ca.pem -no-CApath leaf.pem")
    }

    @Test(arguments: [
        "example", "xcorp.example", "corp.example.org", "10.1.128.0", "10.0.0.1", "::1", "::ffff:10.1.0.1",
    ])
    func `names outside the constraints have none`(name: String) throws {
        let authority = try authority(Self.bounds)
        #expect(throws: CertificateAuthority.Failure.outOfBounds(ServerName(name))) {
            try authority.mint(for: ServerName(name), at: now)
        }
    }

    @Test func `all names below a domain are not the domain itself`() throws {
        let authority = try authority([.domain("corp.example", withItself: false)])
        #expect(throws: Never.self) { try authority.mint(for: ServerName("a.corp.example"), at: now) }
        #expect(throws: CertificateAuthority.Failure.self) {
            try authority.mint(for: ServerName("corp.example"), at: now)
        }
    }

    @Test func `an authority for domains speaks for no address, and one for addresses for no domain`() throws {
        let (domains, addresses) = try (authority([Self.bounds[0]]), authority([Self.bounds[1]]))
        #expect(throws: CertificateAuthority.Failure.self) { try domains.mint(for: ServerName("10.1.0.1"), at: now) }
        #expect(throws: CertificateAuthority.Failure.self) {
            try addresses.mint(for: ServerName("corp.example"), at: now)
        }
        #expect(throws: Never.self) { try addresses.mint(for: ServerName("10.1.0.1"), at: now) }
    }

    @Test func `an authority knows which names it was made for`() throws {
        #expect(try authority().speaks(for: []))
        #expect(try authority(Self.bounds).speaks(for: Self.bounds))
        #expect(try !authority(Self.bounds).speaks(for: []))
        #expect(try !authority().speaks(for: Self.bounds))
        #expect(try !authority(Self.bounds).speaks(for: [Self.bounds[0]]))
    }

    @Test(arguments: ["*.example", "", "a..b", "a b", "a\u{0}.example", "exämple", String(repeating: "a", count: 64)])
    func `a text that is no name has no leaf`(name: String) throws {
        let authority = try authority()
        #expect(throws: CertificateAuthority.Failure.unusableName(.host(name))) {
            try authority.mint(for: .host(name), at: now)
        }
    }

    @Test func `a leaf says one name, once, and no more than a server needs`() throws {
        let command = try files(authority(), "Host.example.")
        defer { command.remove() }
        let text = try command.run("openssl x509 -in leaf.pem -noout -text")
        #expect(text.contains("Subject: CN = host.example\n"))
        #expect(text.contains("DNS:host.example\n"))
        #expect(text.contains("X509v3 Basic Constraints: critical\n                CA:FALSE"))
        #expect(text.contains("X509v3 Key Usage: critical\n                Digital Signature\n"))
        #expect(text.contains("X509v3 Extended Key Usage: \n                TLS Web Server Authentication\n"))
        let root = try command.run("openssl x509 -in ca.pem -noout -text")
        #expect(root.contains("CA:TRUE, pathlen:0"))
        #expect(root.contains("Certificate Sign, CRL Sign\n"))
        #expect(
            root.firstMatch(of: /Subject: CN = attache on build-7.example 20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9a-f]{8}/)
                != nil)
    }

    @Test func `a leaf lasts for 48 hours from an hour ago, but not beyond its origin or its authority`() throws {
        let authority = try authority(at: now)
        let day = Milliseconds.days(1)
        #expect(authority.identity.leaf.notBefore == now - .hours(1))
        #expect(authority.identity.leaf.notAfter == now + day * (5 * 365))
        let leaf = try authority.mint(for: ServerName("a.example"), at: now + day).leaf
        #expect((leaf.notBefore, leaf.notAfter) == (now + day - .hours(1), now + day * 3))
        let first = try authority.mint(for: ServerName("a.example"), at: now - .minutes(30)).leaf
        #expect(first.notBefore == now - .hours(1))
        let last = try authority.mint(for: ServerName("a.example"), at: now + day * (5 * 365) - .minutes(1)).leaf
        #expect(last.notAfter == authority.identity.leaf.notAfter)
        let origin = try authority.mint(for: ServerName("origin.example"), at: now - day).leaf
        let like = try authority.mint(for: ServerName("a.example"), like: origin, at: now).leaf
        #expect(like.notAfter == now + day)
        #expect(like.commonName == "origin.example")
        let forgiven = try authority.mint(for: ServerName("a.example"), like: origin, at: now + day * 30).leaf
        #expect(forgiven.notAfter == now + day * 32)
    }

    @Test func `every leaf has a serial number of its own`() throws {
        let authority = try authority()
        let leaves = try (0..<50).map { _ in try authority.mint(for: ServerName("a.example"), at: now).leaf }
        let numbers = leaves.map(\.serialNumber)
        #expect(Set(numbers).count == 50)
        #expect(numbers.allSatisfy { $0.count == 16 && $0[0] < 0x80 })
    }

    @Test func `an authority outlives the process as PEM`() throws {
        let old = try authority(Self.bounds)
        let identity = try Identity(
            certificate: .content(Secret(old.identity.leaf.pem)), key: .content(old.identity.key.pem()))
        let new = try CertificateAuthority(identity, at: now)
        let leaf = try new.mint(for: ServerName("corp.example"), at: now)
        #expect(leaf.intermediates.isEmpty)
        #expect(new.speaks(for: Self.bounds))
    }

    @Test func `a certificate that may not sign, or not now, is no authority`() throws {
        let authority = try authority(at: now)
        let leaf = try authority.mint(for: ServerName("a.example"), at: now)
        #expect(throws: CertificateAuthority.Failure.mayNotSign) { try CertificateAuthority(leaf, at: now) }
        #expect(throws: CertificateAuthority.Failure.expired) {
            try CertificateAuthority(authority.identity, at: now + .days(6 * 365))
        }
        #expect(throws: CertificateAuthority.Failure.notYetValid) {
            try CertificateAuthority(authority.identity, at: now - .hours(2))
        }
    }

    @Test(arguments: ["ed25519", "RSA -pkeyopt rsa_keygen_bits:2048", "EC -pkeyopt ec_paramgen_curve:P-384"])
    func `an intermediate authority of the operator's own sends itself along`(algorithm: String) throws {
        let command = try OpenSSLCommand()
        defer { command.remove() }
        try command.run(
            """
            printf 'basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash\n' > ext
            printf 'authorityKeyIdentifier=keyid\n' | cat ext - > middle.ext
            openssl genpkey -algorithm ed25519 -out root.key
            openssl req -x509 -new -key root.key -subj /CN=root -days 30 -out root.pem -config /dev/null -extensions v \
                -config /dev/stdin <<.
            [req]
            distinguished_name=d
            [d]
            [v]
            $(cat ext)
            .
            openssl genpkey -algorithm \(algorithm) -out middle.key 2>/dev/null
            openssl req -new -key middle.key -subj /CN=middle -out middle.csr
            openssl x509 -req -in middle.csr -CA root.pem -CAkey root.key -days 30 -extfile middle.ext -set_serial 2 \
                -out middle.pem 2>/dev/null
            """)
        let identity = try Identity(
            certificate: .content(command.secret(of: "middle.pem")), key: .content(command.secret(of: "middle.key")))
        // OpenSSL made it just now.
        let leaf = try CertificateAuthority(identity, at: now + .minutes(1)).mint(
            for: ServerName("a.example"), at: now + .minutes(1))
        #expect(leaf.intermediates == [identity.leaf])
        try command.write(Array(leaf.leaf.pem.utf8), to: "leaf.pem")
        try command.run(
            "openssl verify -x509_strict -purpose sslserver -CAfile root.pem -no-CApath -untrusted middle.pem leaf.pem")
    }

    /// Both ends in one Python process; a handshake is what its `ssl` judges a chain by.
    @Test(arguments: ["host.example", "192.0.2.7"])
    func `Python shakes hands with a leaf, strictly`(name: String) throws {
        let block = NameConstraint.network(IPAddress(v4: 0xC000_0200), prefixLength: 24)
        let command = try files(authority([.domain("example", withItself: true), block]), name)
        defer { command.remove() }
        try command.write(Array(Self.handshake.utf8), to: "handshake.py")
        try command.run("python3 handshake.py \(name)")
    }

    private static let handshake = """
        import ssl, sys
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain("leaf.pem", "leaf.key")
        client = ssl.create_default_context(cafile="ca.pem")
        client.verify_flags |= ssl.VERIFY_X509_STRICT
        a, b = ssl.MemoryBIO(), ssl.MemoryBIO()
        ends = [client.wrap_bio(a, b, server_hostname=sys.argv[1]), server.wrap_bio(b, a, server_side=True)]
        for _ in range(10):
            for end in ends:
                try: end.do_handshake()
                except ssl.SSLWantReadError: pass
        assert ends[0].version() == "TLSv1.3"
        """
}
