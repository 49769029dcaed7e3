import Bytes
import Glibc
import TestSupport
import Testing

@testable import IO

@Suite struct SocketTests {
    @Test func `bytes arrive whole and in order, then the end`() async throws {
        let received = try await onLoop { loop in
            let (near, far) = try await connectedPair(on: loop)
            let out = ByteBuffer(capacity: 64)
            out.append("hello, " as StaticString)
            out.append("world" as StaticString)
            try await near.write(from: out)
            near.shutdownWrite()
            let received = ByteBuffer(capacity: 64)
            while try await far.read(into: received) > 0 {}
            return received.readable.text
        }
        #expect(received == "hello, world")
    }

    @Test func `an accepted socket has its listener's options`() async throws {
        let isSet = try await onLoop { loop in
            let (near, far) = try await connectedPair(on: loop)
            return [near, far].map { socket in
                var value: Int32 = 0
                var length = socklen_t(MemoryLayout<Int32>.size)
                getsockopt(socket.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &value, &length)
                return value != 0
            }
        }
        #expect(isSet == [true, true])
    }

    @Test func `a service manager's descriptor counts if it takes connections`() {
        let (listening, other) = (
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0), socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        )
        defer { for descriptor in [listening, other] { close(descriptor) } }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // With the family alone, the system chooses a name.
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening, $0, socklen_t(MemoryLayout<sa_family_t>.size))
            }
        }
        #expect(isBound == 0 && listen(listening, 1) == 0)
        let null = open("/dev/null", O_RDONLY)
        defer { close(null) }
        #expect([listening, other, null].map(PassedSockets.isListening) == [true, false, false])
    }

    /// The copy may keep the watch alive, whose events name the socket's memory.
    @Test func `a socket that is closed while a program is started stays in memory`() async throws {
        let stayed = try await onLoop { loop in
            var ends = (start: [Int32](repeating: -1, count: 2), end: [Int32](repeating: -1, count: 2))
            try #require(pipe(&ends.start) == 0 && pipe(&ends.end) == 0)
            let (told, awaited) = (ends.start, ends.end)
            defer { for descriptor in told + awaited { close(descriptor) } }
            var byte: UInt8 = 0
            let hasThread = SystemThread.start(name: "starting") {
                var byte: UInt8 = 0
                Descriptors.whileCopied {
                    write(told[1], &byte, 1)
                    read(awaited[0], &byte, 1)
                }
            }
            try #require(hasThread && read(told[0], &byte, 1) == 1)
            let others = try await connectedPair(on: loop)
            var pair: (Socket, Socket)? = try await connectedPair(on: loop)
            weak let closed = pair?.1
            pair?.1.close()
            pair = nil
            try await pass(others)
            write(awaited[1], &byte, 1)
            return closed != nil
        }
        #expect(stayed)
    }

    /// Other tests start programs all the time, hence copies of its own.
    @Test func `copies of descriptors may exist while a program is started, and for five seconds more`() {
        let copies = Descriptors.Copies()
        #expect(!copies.mayExist(at: .zero + Descriptors.Copies.patience))
        copies.whileMade { #expect(copies.mayExist(at: .distantFuture)) }
        let now = SystemClock.uptime
        #expect(copies.mayExist(at: now))
        #expect(!copies.mayExist(at: now + Descriptors.Copies.patience))
    }

    /// Has the loop take a few turns.
    private func pass(_ pair: (Socket, Socket)) async throws {
        let buffer = ByteBuffer(capacity: 64)
        for _ in 0..<3 {
            buffer.append("turn" as StaticString)
            try await pair.0.write(from: buffer)
            while try await pair.1.read(into: buffer) == 0 {}
            buffer.clear()
        }
    }

    @Test func `a writer waits for a slow reader and loses nothing`() async throws {
        let total = 8 << 20
        let sum = try await onLoop { loop in
            let (near, far) = try await connectedPair(on: loop)
            let descriptor = LoopBound(near, to: loop)
            loop.spawn {
                let near = descriptor.value
                near.wakeup = Wakeup()
                let out = ByteBuffer(capacity: total)
                for place in 0..<total { out.append(UInt8(truncatingIfNeeded: place / 4096)) }
                try? await near.write(from: out)
                near.close()
            }
            far.wakeup = Wakeup()
            let received = ByteBuffer(capacity: 4096)
            var place = 0
            while try await far.read(into: received) > 0 {
                let bytes = received.readable
                for offset in 0..<bytes.count where bytes[offset] != UInt8(truncatingIfNeeded: (place + offset) / 4096)
                {
                    return -1
                }
                place += bytes.count
                received.clear()
            }
            return place
        }
        #expect(sum == total)
    }

    @Test func `a socket that brings much lets the others have their turn, and then goes on`() async throws {
        let sent = 48 * 1024
        let (atOnce, isReadable, all) = try await onLoop(share: 16 * 1024) { loop in
            let (near, far) = try await connectedPair(on: loop)
            let out = ByteBuffer(capacity: sent)
            for _ in 0..<sent / 8 { out.append("8 bytes." as StaticString) }
            try await near.write(from: out)
            near.shutdownWrite()
            while !far.hasPeerEnded { await far.waitForEvent() }
            let buffer = ByteBuffer(capacity: 4096)
            var all = 0
            while case .moved(let count) = far.tryRead(into: buffer) {
                all += count
                buffer.clear()
            }
            let (atOnce, isReadable) = (all, far.isReadable)
            while true {
                let count = try await far.read(into: buffer)
                if count == 0 { return (atOnce, isReadable, all) }
                all += count
                buffer.clear()
            }
        }
        #expect(atOnce < sent)
        #expect(isReadable)
        #expect(all == sent)
    }

    @Test func `a deadline that passes ends the wait, and stays until it is cleared`() async throws {
        let outcome = try await onLoop { loop in
            let (near, far) = try await connectedPair(on: loop)
            near.setDeadline(after: 60)
            let buffer = ByteBuffer(capacity: 64)
            var errors: [IOError] = []
            for _ in 0..<2 {
                do { _ = try await near.read(into: buffer) } catch let error as IOError { errors.append(error) }
            }
            near.clearTimeout()
            buffer.append(1)
            try await far.write(from: buffer)
            return (errors, try await near.read(into: buffer))
        }
        #expect(outcome.0 == [.timedOut, .timedOut])
        #expect(outcome.1 == 1)
    }

    @Test func `a deadline set on a closed socket does not outlive it`() async throws {
        let isWell = try await onLoop { loop in
            for _ in 0..<200 {
                let (near, far) = try await connectedPair(on: loop)
                near.close()
                far.close()
                near.setDeadline(after: 60)
                far.setDeadline(after: 60)
            }
            // The slots of all those deadlines come round, while other things use the memory.
            let wakeup = Wakeup()
            let alarms = (0..<200).map { _ in Alarm(on: loop) { wakeup.signal() } }
            for alarm in alarms { alarm.set(after: 150) }
            while !alarms.allSatisfy(\.hasRung) { await wakeup.wait() }
            return true
        }
        #expect(isWell)
    }

    @Test func `closing a socket wakes the task that waits for it`() async throws {
        let error: IOError? = try await onLoop { loop in
            let (near, _) = try await connectedPair(on: loop)
            let alarm = Alarm(on: loop) { near.close() }
            alarm.set(after: 50)
            do {
                try await near.untilReadable()
                return nil
            } catch { return error as? IOError }
        }
        #expect(error == .closed)
    }

    @Test func `a cancelled wake-up ends the wait on its channels, and every later one`() async throws {
        let errors = try await onLoop { loop in
            let (near, _) = try await connectedPair(on: loop)
            let alarm = Alarm(on: loop) { near.wakeup?.cancel() }
            alarm.set(after: 50)
            var errors: [IOError] = []
            for _ in 0..<2 {
                do { try await near.untilReadable() } catch let error as IOError { errors.append(error) }
            }
            return errors
        }
        #expect(errors == [.closed, .closed])
    }

    @Test func `a socket is at its end when all was read that came before, and broken after a reset only`() async throws
    {
        let seen = try await onLoop { loop in
            let (near, far) = try await connectedPair(on: loop)
            let words = ByteBuffer(capacity: 8)
            words.append("last" as StaticString)
            try await near.write(from: words)
            near.shutdownWrite()
            while !far.hasPeerEnded { await far.waitForEvent() }
            var seen = [far.isAtEnd()]
            _ = try await far.read(into: ByteBuffer(capacity: 8))
            seen += [far.isAtEnd(), far.isBroken]
            near.resetOnClose()
            near.close()
            while !far.isBroken { await far.waitForEvent() }
            return seen
        }
        #expect(seen == [false, true, false])
    }

    @Test func `a second process cannot silently share a port`() async throws {
        let error = try await onLoop { loop in
            let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { _ in }
            defer { listener.close() }
            do {
                try Listener.probe(listener.address)
                return ""
            } catch { return "\(error)" }
        }
        #expect(error.contains("address already in use"))
    }

    @Test func `a refused connection says so`() async throws {
        let message = try await onLoop { loop in
            let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) { _ in }
            let address = listener.address
            listener.close()
            let wakeup = Wakeup()
            let socket = try Socket.connecting(to: address, on: loop)
            socket.wakeup = wakeup
            while true {
                if let result = socket.connectionResult() {
                    guard case .failure(let error) = result else { return "" }
                    return "\(error)"
                }
                await wakeup.wait()
            }
        }
        #expect(message == "cannot connect: connection refused")
    }

    @Test func `a closed socket does nothing to the connection that has its number now`() async throws {
        let (results, received) = try await onLoop { loop in
            var (former, _) = try await connectedPair(on: loop)
            var heir: (Socket, Socket)?
            // Other threads take numbers as well.
            for _ in 0..<1000 where heir == nil {
                former.isReadable = true
                former.isWritable = true
                former.close()
                let next = try await connectedPair(on: loop)
                if [next.0, next.1].contains(where: { $0.descriptor == former.descriptor }) {
                    heir = next.0.descriptor == former.descriptor ? next : (next.1, next.0)
                } else {
                    former = next.0
                }
            }
            let (near, far) = try #require(heir)
            let out = ByteBuffer(capacity: 64)
            out.append("for nobody" as StaticString)
            var results = [former.tryWrite(from: out), former.tryRead(into: ByteBuffer(capacity: 64))]
            former.shutdownWrite()
            former.resetOnClose()
            results.append(former.peerAddress == nil ? .failed(errno: EBADF) : .wouldBlock)
            out.clear()
            out.append("for it" as StaticString)
            try await near.write(from: out)
            near.close()
            let received = ByteBuffer(capacity: 64)
            while try await far.read(into: received) > 0 {}
            return (results, received.readable.text)
        }
        #expect(results == [.failed(errno: EBADF), .failed(errno: EBADF), .failed(errno: EBADF)])
        #expect(received == "for it")
    }
}
