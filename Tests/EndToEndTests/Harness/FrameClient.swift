import TestSupport

/// A client of HTTP/2 whose frames the test writes.
final class FrameClient {
    /// The end of a stream.
    enum Answer: Equatable {
        case response(status: Int, text: String)
        case reset(code: UInt32)
        /// The connection has ended, with that code of GOAWAY if one came.
        case ended(code: UInt32?)

        var status: Int? { if case .response(let status, _) = self { status } else { nil } }
        var isEnded: Bool { if case .ended = self { true } else { false } }
    }

    private let wire: Wire
    private let inflater = FieldInflater()
    private(set) var frames: [Frame] = []
    private var isEnded = false

    /// Connects to a listener with TLS.
    /// - Parameter settings: identifiers and values that it sends at once.
    convenience init(by dialer: TLSDialer, settings: [(UInt16, UInt32)] = []) throws {
        try self.init(to: dialer.port, settings: settings)
    }

    /// Connects in clear.
    /// - Parameters:
    ///   - settings: identifiers and values that it sends at once.
    ///   - first: frames that it sends with them.
    init(to port: UInt16, settings: [(UInt16, UInt32)] = [], first: [UInt8] = []) throws {
        wire = try Wire(to: port)
        let payload = settings.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] + Frame.number($1) }
        // It acknowledges the settings of the server, which are the first frame.
        try send(Frame.preface + Frame.bytes(4, 0, 0, payload) + Frame.bytes(4, 1, 0, []) + first)
    }

    func send(_ bytes: [UInt8]) throws { try wire.send(bytes) }

    /// Sends the bytes again and again, until the proxy has ended the connection.
    /// - Returns: whether it has, before the bytes were sent so many times.
    func flood(atMost times: Int, _ bytes: (_ number: Int) -> [UInt8]) -> Bool {
        let pieces = 50
        for number in 0..<times / pieces {
            let piece = (0..<pieces).flatMap { bytes(number * pieces + $0) }
            guard (try? wire.send(piece)) != nil else { return true }
        }
        return false
    }

    /// The next frame; nil at the end of the connection.
    func next() throws -> Frame? {
        guard !isEnded else { return nil }
        do {
            let header = try wire.read(Frame.headerLength)
            let payload = try wire.read(Frame.payloadLength(header))
            let frame = Frame(header: header, payload: payload, inflater: inflater)
            frames.append(frame)
            return frame
        } catch Wire.Failure.timedOut(let received) {
            throw Wire.Failure.timedOut(received: received)
        } catch {
            isEnded = true
            return nil
        }
    }

    /// Reads until the stream is over.
    func answer(on stream: UInt32) throws -> Answer {
        while true {
            if let answer = known(stream) { return answer }
            if try next() == nil { return known(stream) ?? .ended(code: frames.last { $0.type == 7 }?.code) }
        }
    }

    private func known(_ stream: UInt32) -> Answer? {
        let own = frames.filter { $0.stream == stream }
        if own.contains(where: \.endsStream) {
            let heads = own.compactMap { $0.fields.first { $0.hasPrefix(":status: ") } }
            let statuses = heads.compactMap { Int($0.dropFirst(":status: ".count)) }
            return .response(status: statuses.last ?? 0, text: text(of: stream))
        }
        return own.first { $0.type == 3 }.map { .reset(code: $0.code) }
    }

    /// The content that has come on the stream.
    func text(of stream: UInt32) -> String {
        String(decoding: frames.filter { $0.type == 0 && $0.stream == stream }.flatMap(\.payload), as: UTF8.self)
    }

    /// Reads to the end of the connection.
    /// - Returns: the code of GOAWAY, if one came.
    func readToEnd() throws -> UInt32? {
        while try next() != nil {}
        return frames.last { $0.type == 7 }?.code
    }

    /// See `Wire`.
    func holdLittle() { wire.holdLittle() }

    func close() { wire.close() }
}
