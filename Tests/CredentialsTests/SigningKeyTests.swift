import Bytes
import Crypto
import Foundation
import Model
import TLS
import TestSupport
import Testing

@testable import Authentication
@testable import Credentials

/// Keys in files that sign requests.
struct SigningKeyTests {
    /// RFC 9421 appendix B.1.4, `test-key-ed25519`.
    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
        -----END PRIVATE KEY-----

        """

    private func credential(_ source: SignatureSource) throws -> Credential {
        let credentials = ConfiguredCredentials(
            [ConfiguredCredential(name: "bot", content: .signature(source))], environment: [:])
        if let error = credentials.refresh().errors.first { throw error }
        return try credentials.credential(named: "bot")
    }

    private func message(_ pem: String, passphrase: String? = nil) throws -> MessageSignature {
        let file = try TemporaryFile(pem)
        let source = SignatureSource.Message(
            key: file.path, passphrase: passphrase.map { .literal(RedactedText($0)) },
            agent: "https://signature-agent.test")
        guard case .message(let key)? = try credential(.message(source)).signingKey else {
            throw CredentialError.unknown(credential: "bot")
        }
        return MessageSignature(key)
    }

    private func request(_ lines: [String]) -> SignedRequest {
        SignedRequest(Array(lines.map { $0 + "\r\n" }.joined().utf8).span)
    }

    /// RFC 9421 appendix B.2.6.
    @Test func `the published Ed25519 signature comes out`() throws {
        let signer = try message(Self.ed25519).key.signer
        let sent = request([
            "POST /foo?param=Value&Pet=dog HTTP/1.1", "Host: example.com", "Date: Tue, 20 Apr 2021 02:07:55 GMT",
            "Content-Type: application/json", "Content-Length: 18",
        ])
        let names = ["date", "@method", "@path", "@authority", "content-type", "content-length"]
        let components = try names.map { name in
            ("\"\(name)\"", try #require(MessageSignature.value(of: name, in: sent, true)))
        }
        let base = MessageSignature.base(
            components,
            #"("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473"#
                + #";keyid="test-key-ed25519""#)
        let signature = try #require(signer.signature(of: base))
        #expect(
            Base64.encode(signature)
                == "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
            "\(String(decoding: base, as: UTF8.self))")
    }

    /// The test vectors of Web Bot Auth for that key, at a label that is also the key of the agent's member.
    @Test func `the published thumbprint and the signature over the agent's member come out`() throws {
        let signer = try message(Self.ed25519)
        #expect(signer.key.id == "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U")
        let nonce = "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="
        let base = MessageSignature.base(
            [
                ("\"@authority\"", Array("example.com".utf8)),
                (#""signature-agent";key="agent2""#, Array("\"https://signature-agent.test\"".utf8)),
            ],
            #"("@authority" "signature-agent";key="agent2");created=1735689600;keyid="\#(signer.key.id)";alg="ed25519""#
                + #";expires=4889289600;nonce="\#(nonce)";tag="web-bot-auth""#)
        let signature = try #require(signer.key.signer.signature(of: base))
        #expect(
            Base64.encode(signature)
                == "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==")
    }

    /// RFC 8037 appendix A.3.
    @Test func `the thumbprint of the RFC comes out`() throws {
        let key = try #require(Base64.decode("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="))
        #expect(SigningKey.Message.thumbprint(of: key) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    @Test func `a request gets its fields, and covers what the server asks for`() throws {
        let signer = try message(Self.ed25519)
        let sent = request(["GET /a?b HTTP/1.1", "Host: EXAMPLE.com:443", "Accept:  text/html ", "accept: */*"])
        let fields = try #require(
            signer.fields(for: sent, isSecure: true, wanted: nil, digest: nil, at: WallTime(seconds: 1_000), nonce: "n")
        )
        #expect(fields.agent == #"sig="https://signature-agent.test""#)
        #expect(fields.contentDigest == nil)
        let suffix = #";created=1000;keyid="\#(signer.key.id)";alg="ed25519";expires=1300;nonce="n";tag="web-bot-auth""#
        #expect(fields.input == #"sig=("@authority" "signature-agent";key="sig")"# + suffix)
        let field = Array(
            #"x=("@method" "accept" "@target-uri" "content-digest" "@query" "@request-target" "@scheme");nonce="z""#
                .utf8)
        let found = SignatureRequest(field.span, keyID: signer.key.id)
        let wanted = try #require(found)
        let more = try #require(
            signer.fields(
                for: sent, isSecure: true, wanted: wanted, digest: [1, 2], at: WallTime(seconds: 1_000), nonce: "n"))
        #expect(more.contentDigest == "sha-256=:AQI=:")
        #expect(more.agent == #"x="https://signature-agent.test""#)
        let list =
            #"("@authority" "@method" "accept" "@target-uri" "content-digest" "@query" "@request-target" "@scheme" "#
            + #""signature-agent";key="x")"#
        let parameters = list + suffix.replacing("nonce=\"n\"", with: "nonce=\"z\"")
        #expect(more.input == "x=" + parameters)
        let base = [
            #""@authority": example.com"#, #""@method": GET"#, #""accept": text/html, */*"#,
            #""@target-uri": https://example.com/a?b"#, #""content-digest": sha-256=:AQI=:"#, #""@query": ?b"#,
            #""@request-target": /a?b"#, #""@scheme": https"#,
            #""signature-agent";key="x": "https://signature-agent.test""#, "\"@signature-params\": \(parameters)",
        ].joined(separator: "\n")
        let signature = try #require(signer.key.signer.signature(of: Array(base.utf8)))
        #expect(more.signature == "x=:\(Base64.encode(signature)):")
        // Without the field nothing is signed.
        let bare = request(["GET / HTTP/1.1", "Host: h"])
        #expect(
            signer.fields(for: bare, isSecure: true, wanted: wanted, digest: [1], at: WallTime(seconds: 1), nonce: "n")
                == nil)
    }

    @Test func `an encrypted key is opened, and a key of another kind refused`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/keys.\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func made(_ algorithm: String, _ more: [String] = []) throws -> String {
            let path = "\(folder)/\(algorithm)"
            let process = ChildProcess()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["openssl", "genpkey", "-algorithm", algorithm, "-out", path] + more
            process.standardError = FileHandle.nullDevice
            try process.start()
            process.waitUntilExit()
            return try String(contentsOfFile: path, encoding: .utf8)
        }
        let encrypted = try made("ed25519", ["-aes256", "-pass", "pass:word"])
        #expect(try message(encrypted, passphrase: "word").key.id.count == 43)
        #expect(throws: CredentialError.self) { try message(encrypted) }
        let ec = try made("EC", ["-pkeyopt", "ec_paramgen_curve:P-256"])
        #expect {
            _ = try message(ec)
        } throws: { error in
            "\(error)".hasSuffix("the private key is not an Ed25519 key")
        }
        let rsa = try made("RSA", ["-pkeyopt", "rsa_keygen_bits:1024"])
        func oauth(_ pem: String) throws -> OAuth1Signature {
            let file = try TemporaryFile(pem)
            let source = SignatureSource.OAuth1(
                method: .rsaSHA1, consumerKey: .literal(RedactedText("ck")),
                proof: .key(path: file.path, passphrase: nil), token: nil, realm: nil, signsPayload: true)
            guard case .oauth1(let key)? = try credential(.oauth1(source)).signingKey else {
                throw CredentialError.unknown(credential: "bot")
            }
            return OAuth1Signature(key)
        }
        let signature = try #require(try oauth(rsa).signature(of: Array("base".utf8)))
        // 128 bytes in base64, of which some characters are percent-encoded.
        #expect(signature.count >= 172)
        #expect {
            _ = try oauth(ec)
        } throws: { error in
            "\(error)".hasSuffix("the private key is not an RSA key of 1024 bits or more")
        }
    }
}
