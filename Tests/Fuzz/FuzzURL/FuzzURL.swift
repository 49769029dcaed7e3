// Invariant: any text is read as each kind of URL without a trap and without a DNS lookup. Its parts can be in a
// request line, a field or a log, and a login that follows it stays on its server.
import Authentication
import Bytes
import Crypto
import HTTP
import Model
import PAC

@testable import Challenges
@testable import FTP

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let text = String(decoding: input, as: UTF8.self)
    checkRequest(input)
    checkReference(input)
    checkFTP(input)
    checkQuery(input)
    if let endpoint = HTTPEndpoint(text) {
        precondition(endpoint.target.hasPrefix("/") && !endpoint.host.isEmpty)
        precondition("\(endpoint)".utf8.allSatisfy { $0 > .space && $0 < .delete })
        guard let again = HTTPEndpoint("\(endpoint)") else { fatalError("what we wrote is refused") }
        precondition(again == endpoint, "what we wrote means something else")
    }
    let ways = PACPath.list(text)
    precondition(ways.count <= 32)
    for case .proxy(_, let host, let port) in ways {
        precondition(port > 0 && !host.isEmpty && host == host.lowercased())
        precondition(host.utf8.allSatisfy { $0 > .space && $0 < .delete })
    }
    return 0
}

/// The parameters of a query: what is taken out is gone, and all else stays.
private func checkQuery(_ input: [UInt8]) {
    let (name, value) = (Array("k".utf8), Array("a%".utf8))
    let buffer = ByteBuffer(capacity: 256)
    QueryParameters.append(input.span, without: [name], to: buffer)
    precondition(!QueryParameters.contain(name.span, in: buffer.readable), "a parameter was left")
    if !QueryParameters.contain(name.span, in: input.span) { precondition(buffer.readable.array == input) }
    buffer.clear()
    QueryParameters.append(input.span, hiding: name.span, to: buffer)
    precondition(buffer.count <= 4 * input.count + 8)
    buffer.clear()
    EchoedParameters([.init(name: name, value: value)]).append(input.span, to: buffer)
    precondition(buffer.count <= input.count, "a head has grown")
}

/// The user of a request's URL.
private func checkRequest(_ input: [UInt8]) {
    let bytes = Array("GET ".utf8) + input + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
    let head = RequestHead()
    guard case .complete? = try? head.parse(bytes.span) else { return }
    guard let credential = Credential.inURL(of: head, in: bytes.span) else { return }
    // Compared by scalars: a user that begins with a combining mark is one character together with the colon before it.
    let name = credential.version.name.unicodeScalars
    precondition(name.starts(with: "url:".unicodeScalars))
    precondition(
        name.allSatisfy { $0.properties.generalCategory != .control && $0.properties.generalCategory != .format })
    if let password = credential.password, password.count == 0, let user = credential.user, user.utf8.count > 8 {
        precondition(!name.dropFirst(4).starts(with: user.unicodeScalars), "a token stands in a name")
    }
}

/// A `Location` of a login, or the action of its form.
private func checkReference(_ input: [UInt8]) {
    for (kind, port) in [(NetworkProtocol.https, UInt16(443)), (.http, 8080)] {
        let origin = Origin(host: "host.test", port: port, protocol: kind)
        switch LoginReference(input, from: Array("/a/b?c".utf8), on: origin) {
        case .here(let target):
            precondition(target.first == .slash && target.count <= 8 * 1024)
            precondition(target.allSatisfy { $0 > .space && $0 < .delete }, "a target ends the request line")
            precondition(!target.prefix { $0 != UInt8(ascii: "?") }.elementsEqual("/..".utf8))
        case .elsewhere(let place):
            precondition(place.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F })
        case nil: break
        }
    }
}

private func checkFTP(_ input: [UInt8]) {
    let path = FTPPath(target: ([.slash] + input).span)
    precondition(path.encoded.first == .slash && path.asDirectory.isDirectory)
    precondition(!path.lastComponent.contains(.slash))
    precondition(path.urlText.utf8.allSatisfy { $0 != .semicolon && $0 != UInt8(ascii: "?") && $0 < 0x80 })
    precondition(path.asDirectory.asDirectory == path.asDirectory)
}
