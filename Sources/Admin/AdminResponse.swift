import Bytes
import HTTP

/// An answer of the administrator's site: always whole, always text.
struct AdminResponse: Equatable {
    struct Field: Equatable {
        let name: StaticString
        let value: String

        static func == (left: Field, right: Field) -> Bool {
            left.name.description == right.name.description && left.value == right.value
        }
    }

    let status: Status
    var contentType = "text/plain; charset=utf-8"
    var fields: [Field] = []
    var body: String

    /// A text of one line.
    static func text(_ status: Status, _ line: String, _ fields: [Field] = []) -> AdminResponse {
        AdminResponse(status: status, fields: fields, body: line + "\n")
    }

    /// - Parameters:
    ///   - withBody: false for HEAD: the length is that of the body which is left out.
    ///   - date: now, in seconds since 1970.
    ///   - closing: the connection ends behind this answer.
    func write(into buffer: ByteBuffer, withBody: Bool, date: Int, closing: Bool) {
        let writer = HeadWriter(status: status, into: buffer)
        writer.date(date)
        for field in fields { writer.field(field.name, field.value) }
        writer.field("Content-Type", contentType)
        writer.field("Content-Length", decimal: body.utf8.count)
        writer.field("Cache-Control", "no-store" as StaticString)
        if closing { writer.field("Connection", "close" as StaticString) }
        writer.end()
        if withBody { buffer.append(body) }
    }
}
