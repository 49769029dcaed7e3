import IO

/// Where log lines go: the loops hand them over in pieces of many lines, and a thread of the writer's own writes them.
///
/// When the destination is slower than the traffic, lines are dropped and counted rather than the traffic held up.
public final class AccessLog: Sendable {
    private let writer: LineWriter
    private let losses = LineWriter.Losses()

    public init(to writer: LineWriter) { self.writer = writer }

    /// Takes lines over without blocking.
    /// - Returns: the lines that are lost, because too much waits already, or earlier ones since the last call.
    func write(_ bytes: [UInt8], lines: Int) -> Int {
        writer.write(bytes, lines: lines, losses: losses)
        return losses.take()
    }

    /// Lines go to `file` from now on.
    public func replace(with file: OutputFile) { writer.replace(with: file) }

    /// Whether every line that was taken has been written.
    var isIdle: Bool { writer.isIdle }
}
