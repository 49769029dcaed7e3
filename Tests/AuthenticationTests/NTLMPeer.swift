import Bytes
import Crypto

@testable import Authentication

/// The server's side of NTLM: makes challenges and takes answers apart.
enum NTLMPeer {
    static let serverChallenge: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    /// `Domain` and `Server`, and a time.
    static let attributes: [(UInt16, [UInt8])] = [
        (2, Array(utf16: "Domain")), (1, Array(utf16: "Server")), (7, [9, 8, 7, 6, 5, 4, 3, 2]),
    ]

    /// A challenge whose target information is what is given, ended.
    static func challenge(
        _ attributes: [(UInt16, [UInt8])] = attributes, flags: UInt32 = 0xA289_8205
    ) -> [UInt8] {
        challenge(information: list(attributes), flags: flags)
    }

    static func challenge(information: [UInt8], flags: UInt32) -> [UInt8] {
        var bytes = Array("NTLMSSP\0".utf8)
        bytes.append(littleEndian: UInt32(2))
        bytes += fields(length: 0, offset: 56)
        bytes.append(littleEndian: flags)
        bytes += serverChallenge + Array(repeating: 0, count: 8)
        bytes += fields(length: information.count, offset: 56)
        return bytes + Array(repeating: 0, count: 8) + information
    }

    static func list(_ attributes: [(UInt16, [UInt8])]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (identifier, value) in attributes + [(0, [])] {
            bytes.append(littleEndian: identifier)
            bytes.append(littleEndian: UInt16(value.count))
            bytes += value
        }
        return bytes
    }

    private static func fields(length: Int, offset: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt16(length))
        bytes.append(littleEndian: UInt16(length))
        bytes.append(littleEndian: UInt32(offset))
        return bytes
    }

    /// A third message, taken apart.
    struct Answer {
        let bytes: [UInt8]

        private func number(at offset: Int) -> Int { Int(bytes.span.littleEndian32(at: offset) ?? 0) }

        private func field(_ index: Int) -> [UInt8] {
            let length = bytes.span.littleEndian16(at: 12 + index * 8) ?? 0
            let offset = number(at: 16 + index * 8)
            return Array(bytes[offset..<offset + length])
        }

        var lm: [UInt8] { field(0) }
        var nt: [UInt8] { field(1) }
        var domain: [UInt8] { field(2) }
        var user: [UInt8] { field(3) }
        var workstation: [UInt8] { field(4) }
        var sessionKey: [UInt8] { field(5) }
        var flags: UInt32 { UInt32(number(at: 60)) }
        var version: [UInt8] { Array(bytes[64..<72]) }
        var code: [UInt8] { Array(bytes[72..<88]) }
        var time: [UInt8] { Array(nt[24..<32]) }
        var clientChallenge: [UInt8] { Array(nt[32..<40]) }
        var information: NTLMMessage.Challenge.TargetInformation {
            let list = Array(nt[44...])
            return NTLMMessage.Challenge.TargetInformation(list.span)
        }

        /// The expected proof and code for a password: [MS-NLMP] sections 3.3.2 and 3.1.5.1.2, implemented
        /// independently.
        func isProof(of password: String, by identity: String, challenge: [UInt8]) throws -> Bool {
            let hmac = { (key: [UInt8], text: [UInt8]) in
                MessageAuthenticationCode(.md5, key: key.span).code(of: text.span).array
            }
            let hash = try MD4.digest(of: Array(utf16: password).span).array
            let key = hmac(hash, Array(utf16: identity))
            let proof = hmac(key, serverChallenge + nt[16...])
            var blank = bytes
            blank.replaceSubrange(72..<88, with: Array(repeating: 0, count: 16))
            return Array(nt[..<16]) == proof
                && code == hmac(hmac(key, proof), NTLMMessage.negotiate + challenge + blank)
        }
    }
}
