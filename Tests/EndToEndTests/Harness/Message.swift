import Foundation

/// An HTTP/1 message as it stood on the wire.
struct Message: Sendable {
    /// Start line and fields, with their line ends, as received.
    let head: String
    let startLine: String
    let fields: [(name: String, value: String)]
    /// The content without chunk framing.
    var body: [UInt8] = []
    /// The trailer section's lines.
    var trailers: [String] = []
    var isChunked = false

    init(head: String) {
        self.head = head
        let lines = head.split(separator: "\r\n")
        startLine = lines.first.map(String.init) ?? ""
        fields = lines.dropFirst().map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            let value = line[colon...].dropFirst()
            return (String(line[..<colon]), value.trimmingCharacters(in: .whitespaces))
        }
    }

    var text: String { String(decoding: body, as: UTF8.self) }
    private var words: [Substring] { startLine.split(separator: " ") }
    var method: String { words.first.map(String.init) ?? "" }
    var target: String { words.count > 1 ? String(words[1]) : "" }
    /// The status code; 0 if this is no response.
    var status: Int { words.count > 1 ? Int(words[1]) ?? 0 : 0 }

    func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// All lines of that name joined by commas, nil if there is none.
    subscript(name: String) -> String? {
        let values = values(name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
