// Invariant: the name in a client's hello is a host name. What follows the first record does not matter. A part of that record has no name.
import Bytes

@testable import Proxy

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let name = ClientHello(input.span).serverName else { return 0 }
    let isHost = name.utf8.allSatisfy { $0.isDigit || "abcdefghijklmnopqrstuvwxyz-._".utf8.contains($0) }
    precondition(isHost && (1...253).contains(name.utf8.count) && IPAddress(name) == nil, "no host name")
    let end = 5 + (Int(input[3]) << 8 | Int(input[4]))
    precondition(ClientHello((input + input).span).serverName == name, "what follows matters")
    precondition(ClientHello(input.span.extracting(first: end)).serverName == name, "what follows matters")
    precondition(ClientHello(input.span.extracting(first: end - 1)).serverName == nil, "a part has a name")
    return 0
}
