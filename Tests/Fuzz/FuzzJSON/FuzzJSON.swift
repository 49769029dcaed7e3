// Invariant: any bytes are read without a trap. The values are read the same from JSON that is written again. A token
// from a response fits into a field, and its lifetime is between zero and a year.
import Authentication
import Bytes
import Crypto
import Model

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    if let members = JSONMembers(input) {
        let blank: [UInt8] = [.space, .lineFeed, .tab, .carriageReturn]
        guard let wider = JSONMembers(blank + input) else { fatalError("blanks have no meaning") }
        for name in names {
            precondition(members[name] == wider[name], "blanks have no meaning")
            guard let value = members[name] else { continue }
            let written = object(name, value)
            precondition(JSONMembers(written)?[name] == value, "what was read is not what was written")
            precondition(members.texts(name) == wider.texts(name), "blanks have no meaning")
        }
    }
    for status in [200, 400, 503] {
        var content = input
        guard let endpoint, let response = try? TokenResponse(status: status, content: &content, from: endpoint) else {
            continue
        }
        precondition(status == 200, "an error has a token")
        let isFit = response.token.withBytes { token in
            token.count > 0 && token.indices.allSatisfy { token[$0] > .space && token[$0] < .delete }
        }
        precondition(isFit, "a token ends its field")
        precondition((0...Milliseconds.days(366)).contains(response.lifetime ?? 0), "a token lasts for ever")
    }
    if let issuer, let metadata = try? IssuerMetadata(status: 200, content: input, of: issuer) {
        precondition(metadata.endpoint.isSecure, "a secret goes out in clear")
    }
    return 0
}

private let issuer = TokenIssuer("https://id.example.com")
private let names = [
    "access_token", "token_type", "expires_in", "error", "error_description", "sealed", "port", "",
    "token_endpoint_auth_methods_supported",
]
private let endpoint = HTTPEndpoint("https://id.example.com/token")

private func object(_ name: String, _ value: JSONMembers.Value) -> [UInt8] {
    switch value {
    case .object(let nested), .array(let nested): return Array("{\"\(name)\":".utf8) + nested + Array("}".utf8)
    case .number(let number): return Array("{\"\(name)\":\(number)}".utf8)
    case .text(let text):
        var written = Array("{\"\(name)\":\"".utf8)
        for byte in text {
            if byte == .quote || byte == .backslash {
                written += [.backslash, byte]
            } else if byte < 0x20 {
                written += Array("\\u00".utf8) + Hex.encode([byte]).utf8
            } else {
                written.append(byte)
            }
        }
        return written + Array("\"}".utf8)
    }
}
