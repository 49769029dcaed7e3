import Foundation
import Testing

/// The messages of the proxy to a service manager such as systemd, and the sockets it may pass.
struct ServiceManagerTests {
    @Test func `a service manager hears of the start, of a reload and of the stop`() throws {
        let manager = try NotificationSocket(path: "\(Scratch.folder("notify"))/notify")
        try AttacheProcess.running(setting: .init(environment: ["NOTIFY_SOCKET": manager.name])) { proxy throws in
            #expect(manager.next() == ["READY=1"])
            try proxy.reload("")
            let reload = manager.next()
            #expect(reload.first == "RELOADING=1")
            let stamp = try #require(reload.last?.split(separator: "=").last.flatMap { Int($0) })
            #expect(reload.last?.hasPrefix("MONOTONIC_USEC=") == true)
            #expect(stamp > 0)
            #expect(manager.next() == ["READY=1"])
            proxy.terminate()
            #expect(manager.next() == ["STOPPING=1", "EXTEND_TIMEOUT_USEC=35000000"])
        }
    }

    @Test func `a reload that is rejected leaves a proxy that is ready`() throws {
        let manager = try NotificationSocket(path: "@attache-\(UUID().uuidString)")
        try AttacheProcess.running(setting: .init(environment: ["NOTIFY_SOCKET": manager.name])) { proxy throws in
            #expect(manager.next() == ["READY=1"])
            try proxy.reload("nonsense")
            #expect(manager.next().first == "RELOADING=1")
            #expect(manager.next() == ["READY=1"])
        }
    }

    @Test func `a manager that is gone stops nothing`() throws {
        let setting = AttacheProcess.Setting(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"])
        try AttacheProcess.running(setting: setting) { proxy in
            #expect(proxy.awaitErrorOutput("cannot tell the service manager at /nonexistent/notify"))
        }
    }

    @Test func `sockets that were passed are listened on`() throws {
        let origin = try RecordingOrigin.answering()
        let stranger = FreePort.take()
        defer { FreePort.release(stranger) }
        try AttacheProcess.running(setting: .init(socketPassedBeside: stranger)) { proxy throws in
            #expect(proxy.awaitErrorOutput("listening on 127.0.0.1:\(proxy.port), by a socket from systemd"))
            #expect(proxy.awaitErrorOutput("127.0.0.1:\(proxy.adminPort), by a socket from systemd"))
            #expect(
                proxy.awaitErrorOutput(
                    "passed a socket on 127.0.0.1:\(stranger), but no 'listen' or 'admin' names this address"))
            for _ in 0..<20 {
                let fetched = try proxy.get(origin.url())
                #expect(fetched.status == 200)
            }
            let health = try Curl.fetch("http://127.0.0.1:\(proxy.adminPort)/healthz")
            #expect(health.status == 200)
        }
    }
}

/// The socket on which a service manager hears from its services.
private final class NotificationSocket: Sendable {
    let name: String
    private let descriptor: Int32

    /// - Parameter path: `@` and a name for a socket that is in no file system.
    init(path: String) throws {
        name = path
        descriptor = Spawn.closedOnExec { socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path.utf8)
            if path.hasPrefix("@") { room[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(bound == 0, "\(String(cString: strerror(errno)))")
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The lines of the next message; none after a minute without one.
    func next() -> [String] {
        var room = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &room, room.count, 0)
        return String(decoding: room.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
