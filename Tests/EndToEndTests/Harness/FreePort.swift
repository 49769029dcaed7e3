import TestSupport

/// Loopback ports for programs that need a fixed number; see `LoopbackPort`.
enum FreePort {
    static func take() -> UInt16 { LoopbackPort.take() }
    static func release(_ port: UInt16) { LoopbackPort.release(port) }
}
