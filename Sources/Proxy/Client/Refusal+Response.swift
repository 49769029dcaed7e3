import Bytes
import HTTP
import IO
import TLS
import Upstream

extension Refusal {
    /// Writes the answer: status, `Proxy-Status`, and a sentence.
    /// - Parameter connection: what the answer says about the connection; nil: nothing.
    func write(into buffer: ByteBuffer, connection: StaticString?, withBody: Bool) {
        let writer = HeadWriter(status: status, into: buffer)
        writer.date(SystemClock.epochMilliseconds / 1000)
        for field in fields { writer.field(field.name, field.value) }
        writer.field(
            "Proxy-Status",
            ProxyStatus(
                proxy: Via.name, error: error, details: details, receivedStatus: receivedStatus?.rawValue,
                alert: alert.map { (Int($0.rawValue), "\($0)") }
            ).value)
        writer.field("Content-Type", "text/plain; charset=utf-8")
        writer.field("Content-Length", decimal: text.utf8.count)
        if let connection { writer.field("Connection", connection) }
        writer.end()
        if withBody { buffer.append(text) }
    }
}
