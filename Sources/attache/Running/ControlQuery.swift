import Authentication
import Model

/// The query of a question to the running proxy.
struct ControlQuery: CustomStringConvertible {
    private var members: [String] = []

    mutating func add(_ name: String, _ value: String) {
        let text = value.utf8.map { byte -> String in
            let scalar = Unicode.Scalar(byte)
            if scalar.properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte) { return "\(scalar)" }
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "%0\(digits)" : "%\(digits)"
        }
        members.append("\(name)=\(text.joined())")
    }

    mutating func add(_ origin: Origin) {
        add("host", origin.host)
        add("port", "\(origin.port)")
        add("protocol", origin.protocol.rawValue)
    }

    var description: String { members.isEmpty ? "" : "?" + members.joined(separator: "&") }
}
