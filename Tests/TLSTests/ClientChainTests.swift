import Bytes
import Foundation
import Testing

@testable import TLS

/// The certificates that authenticate a client.
struct ClientChainTests {
    private static let script = """
        new() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out $1.key 2>/dev/null; }
        sign() {
            new $1; openssl req -new -key $1.key -subj /CN=$1 -out $1.csr; printf "$4" > $1.ext
            openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -days $3 -extfile $1.ext -out $1.pem 2>/dev/null
        }
        extensions='authorityKeyIdentifier=keyid\\nsubjectKeyIdentifier=hash\\n'
        for name in root other; do
            new $name; openssl req -x509 -new -key $name.key -subj /CN=$name -days 30 -out $name.pem
        done
        sign middle root 30 "${extensions}basicConstraints=critical,CA:true\\nkeyUsage=critical,keyCertSign"
        openssl x509 -req -in middle.csr -CA other.pem -CAkey other.key -days 30 -extfile middle.ext -out twin.pem 2>/dev/null
        sign client middle 30 "${extensions}extendedKeyUsage=clientAuth"
        sign both middle 30 "${extensions}extendedKeyUsage=serverAuth,clientAuth"
        sign plain middle 30 "$extensions"
        sign server middle 30 "${extensions}extendedKeyUsage=serverAuth"
        openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_pubexp:4294967311 -out costly.key 2>/dev/null
        openssl req -new -key costly.key -subj /CN=costly -out costly.csr
        openssl x509 -req -in costly.csr -CA middle.pem -CAkey middle.key -days 30 -extfile client.ext -out costly.pem 2>/dev/null
        sign short middle 1 "${extensions}extendedKeyUsage=clientAuth"
        sign stranger other 30 "${extensions}extendedKeyUsage=clientAuth"
        """

    @Test func `a client is proved by a chain that is whole, in time, for clients, and from one of ours`() throws {
        let command = try OpenSSLCommand()
        defer { command.remove() }
        try command.run(Self.script)
        let files = try command.all()
        let certificate = { (name: String) throws in
            let pem = try #require(files[name + ".pem"])
            return try Certificate.all(inPEM: pem.span)[0]
        }
        let anchors = try TrustAnchors(only: [certificate("root")])
        let now = WallTime(seconds: Int(Date().timeIntervalSince1970))
        let vouches = { (name: String, issuers: [String], days: Int) throws in
            anchors.vouch(
                forClient: PresentedChain(leaf: try certificate(name), others: try issuers.map(certificate)),
                at: now + .days(days))
        }
        for name in ["client", "both", "plain", "short"] { #expect(try vouches(name, ["middle"], 0), "\(name)") }
        #expect(try !vouches("client", [], 0))
        #expect(try vouches("client", ["twin", "middle"], 0), "only the second certificate of middle leads to root")
        #expect(try !vouches("client", ["twin", "other"], 0))
        #expect(try !vouches("costly", ["middle"], 0), "its key has a long exponent")
        #expect(try !vouches("server", ["middle"], 0))
        #expect(try !vouches("stranger", ["middle", "other"], 0))
        #expect(try !vouches("short", ["middle"], 2))
        #expect(try !vouches("client", ["middle"], -2))
        #expect(try !vouches("client", Array(repeating: "middle", count: 32), 0))
    }
}
