import Bytes
import Model
import Testing

@testable import TLS

/// `tls-server-end-point` (RFC 5929 section 4.1), against what the `openssl` program computes.
@Suite struct ChannelBindingTests {
    @Test(arguments: [
        ("ec -pkeyopt ec_paramgen_curve:P-256 -sha256", "sha256"),
        ("ec -pkeyopt ec_paramgen_curve:P-256 -sha1", "sha256"),
        ("ec -pkeyopt ec_paramgen_curve:P-384 -sha384", "sha384"), ("rsa:2048 -sha512", "sha512"),
        ("rsa:2048 -sha384 -sigopt rsa_padding_mode:pss", "sha384"), ("ed25519", nil),
    ])
    func `The server's certificate is hashed as it is signed, but not weaker than by SHA-256`(
        key: String, hash: String?
    ) throws {
        let command = try OpenSSLCommand()
        defer { command.remove() }
        try command.run("openssl req -x509 -newkey \(key) -nodes -keyout key.pem -out leaf.pem -subj /CN=server")
        let talk = try Conversation(server: plainServer())
        talk.identity = try Identity(
            certificate: .content(command.secret(of: "leaf.pem")), key: .content(command.secret(of: "key.pem")))
        talk.judges = { chain in
            // Who signs with SHA-1 is not trusted otherwise.
            let evaluation = TrustEvaluation.of(
                chain, for: .host("server"), anchors: try TrustAnchors(only: [chain.leaf]),
                at: WallTime(seconds: 1 << 50))
            guard case .trusted(let chain) = evaluation.forgiving(TrustFindings.all) else { return nil }
            return ServerTrust(chain)
        }
        try talk.shake()
        let expected = try hash.map {
            try command.run("openssl x509 -in leaf.pem -outform der | openssl dgst -\($0) -r").prefix { $0 != " " }
        }
        let binding = talk.client.serverEndPointBinding
        #expect(
            binding.map { $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
                == expected.map(String.init))
        #expect(talk.server.serverEndPointBinding == binding)
    }
}
