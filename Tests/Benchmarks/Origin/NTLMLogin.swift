import Bytes

/// The origin's side of NTLM on one connection ([MS-NLMP] section 3). It believes any third message: the contestant's work
/// is the same, and the origin's stays small.
final class NTLMLogin {
    enum Judgement {
        case loggedIn
        /// This request completed the login.
        case loggedInNow
        /// The response that asks for the next message.
        case challenged([UInt8])
    }

    private var isLoggedIn = false

    /// - Parameter authorization: the field's value; empty where there is none.
    func judge(_ authorization: Span<UInt8>) -> Judgement {
        guard authorization.count > 5, authorization.extracting(0..<5).equals("NTLM ") else {
            return isLoggedIn ? .loggedIn : .challenged(Self.demand)
        }
        // "NTLMSSP", a zero and the type of message: in Base64 the third message begins with `TlRMTVNTUAAD`.
        guard authorization.count > 17, authorization[16] == UInt8(ascii: "D") else {
            return .challenged(Self.challenge)
        }
        isLoggedIn = true
        return .loggedInNow
    }

    private static let demand = response("NTLM")
    private static let challenge = response("NTLM \(Base64.encode(message))")

    /// The second message: Unicode, target information with the domain's name and a time (section 2.2.1.2).
    private static let message: [UInt8] = {
        let information: [UInt8] = [2, 0, 2, 0, 0x44, 0, 7, 0, 8, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
        var bytes = Array("NTLMSSP".utf8) + [0, 2, 0, 0, 0, 2, 0, 2, 0, 48, 0, 0, 0]
        bytes += [0x05, 0x82, 0x89, 0xA2, 1, 2, 3, 4, 5, 6, 7, 8] + [UInt8](repeating: 0, count: 8)
        bytes += [UInt8(information.count), 0, UInt8(information.count), 0, 50, 0, 0, 0, 0x44, 0]
        return bytes + information
    }()

    private static func response(_ challenge: String) -> [UInt8] {
        let lines = ["HTTP/1.1 401 Unauthorized", "WWW-Authenticate: \(challenge)", "Content-Length: 0", "", ""]
        return Array(lines.joined(separator: "\r\n").utf8)
    }
}
