/// The response that curl got.
struct Fetched: CustomStringConvertible {
    let run: Finished
    /// Every head, interim ones and challenges included.
    let heads: String
    let text: String

    var description: String { "\(run)\n\(heads)\n\(text.prefix(500))" }

    /// The last head.
    var message: Message {
        let blocks = heads.replacing("\r\n", with: "\n").split(separator: "\n\n")
        return Message(head: (blocks.last.map(String.init) ?? "").replacing("\n", with: "\r\n"))
    }

    /// The final status; 0 if there was no response.
    var status: Int { message.status }

    subscript(name: String) -> String? { message[name] }
}
