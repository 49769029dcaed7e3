import Bytes
import Crypto
import FTP
import HTTP
import IO
import Upstream

/// A request on a gateway's thread, with its body.
final class GatewayRequest {
    let head: RequestHead
    private let client: BlockingSocket
    private let bytes = ByteBuffer(capacity: BufferPool.regular)
    private let inbound = ByteBuffer(capacity: BufferPool.large)
    private var content = BodyContent.length(0)
    private var isWaitedFor = false

    init(from client: BlockingSocket, limits: Limits) {
        self.client = client
        head = RequestHead(limits: limits)
    }

    /// - Returns: whether the head is complete.
    func readHead() -> Bool {
        let (bytes, inbound) = (bytes, inbound)
        while true {
            if bytes.writableCount == 0 { bytes.reserve(1) }
            guard client.read(into: bytes) > 0, let progress = try? head.parse(bytes.readable) else { return false }
            guard case .complete(let length) = progress else { continue }
            inbound.append(bytes.readable.extracting(length..<bytes.count))
            bytes.truncate(to: length)
            content = BodyContent(head.framing, limits: head.limits)
            isWaitedFor = head.expectsContinue
            return true
        }
    }

    /// The user and password of Basic; nil without it.
    var login: FTPServer.Login? {
        guard let value = value(of: .authorization), value.count > 6,
            value.span.extracting(first: 6).equalsIgnoringCase("basic ")
        else { return nil }
        let pair = ByteBuffer(capacity: 256)
        let text = value.span
        guard Base64.decode(text.extracting(text.trimmingBlanks(6..<text.count)), into: pair),
            let colon = pair.readable.firstIndex(of: .colon)
        else { return nil }
        let readable = pair.readable
        return FTPServer.Login(
            user: readable.extracting(0..<colon).array, password: Secret(readable.extracting(colon + 1..<pair.count)))
    }

    var path: FTPPath {
        let bytes = bytes
        return FTPPath(target: bytes.readable.extracting(head.target.path))
    }

    /// The size of the body in bytes, if it is known in advance.
    var bodyLength: Int? {
        switch head.framing {
        case .none: 0
        case .length(let length): length
        case .chunked, .untilClose: nil
        }
    }

    private func value(of field: KnownField) -> [UInt8]? {
        let bytes = bytes
        return head.fields.first(field).map { bytes.readable.extracting($0.value).array }
    }

    /// The value of a field; nil if it is absent.
    func value(named name: StaticString) -> String? {
        let bytes = bytes
        return head.fields.first(named: name, in: bytes.readable).map { bytes.readable.extracting($0.value).text }
    }

    /// Appends the next bytes of the body, none at its end; false if the client stopped in the middle. Sends `100
    /// Continue` first if the client waits for it.
    func readBody(into buffer: ByteBuffer) -> Bool {
        if isWaitedFor {
            isWaitedFor = false
            let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
            guard client.write(interim.span) else { return false }
        }
        let inbound = inbound
        while true {
            guard let step = try? content.next(inbound.readable, from: 0) else { return false }
            switch step {
            case .data(let range):
                buffer.append(inbound.readable.extracting(range))
                inbound.consume(range.upperBound)
                return true
            case .trailer(let line): inbound.consume(line.upperBound)
            case .end: return true
            case .needsMore(let consumed):
                inbound.consume(consumed)
                if inbound.writableCount == 0 { inbound.reserve(1) }
                guard client.read(into: inbound) > 0 else { return false }
            }
        }
    }
}
