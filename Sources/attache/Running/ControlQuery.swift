import Authentication
import Bytes
import Model

/// The query of a question to the running proxy.
struct ControlQuery: CustomStringConvertible {
    private var members: [String] = []

    mutating func add(_ name: String, _ value: String) {
        var text: [UInt8] = []
        for byte in value.utf8 { PercentEncoding.append(byte, to: &text) }
        members.append("\(name)=\(text.span.text)")
    }

    mutating func add(_ origin: Origin) {
        add("host", origin.host)
        add("port", "\(origin.port)")
        add("protocol", origin.protocol.rawValue)
    }

    var description: String { members.isEmpty ? "" : "?" + members.joined(separator: "&") }
}
