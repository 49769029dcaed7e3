import Bytes
import IO
import Model
import TLS
import TestSupport
import Testing
import Transport

/// Our client's side against `openssl s_server`.
@Suite(.timeLimit(.minutes(30))) struct ServerPeerTests {
    @Test(arguments: [TLSVersion.v12, .v13])
    func `A request goes out, and the answer comes to its end`(version: TLSVersion) async throws {
        let (peer, port) = try OpenSSLPeer.server("-www")
        defer { peer.kill() }
        let (answer, agreed) = try await onLoop { loop in
            let stream = try await ByteStream.connected(to: port, on: loop)
            try await stream.secured(ClientTLSContext.Settings(maximum: version))
            try await stream.say("GET / HTTP/1.0\r\n\r\n")
            let answer = try await stream.rest()
            defer { stream.close() }
            return (answer, stream.tls?.version)
        }
        #expect(answer.hasPrefix("HTTP/1.0 200 ok"))
        #expect(answer.hasSuffix("</pre></BODY></HTML>\r\n\r\n"))
        #expect(agreed == version)
    }

    @Test func `A server of TLS 1_0 is talked to only where that is allowed`() async throws {
        let (peer, port) = try OpenSSLPeer.server("-www -tls1 -cipher ALL:@SECLEVEL=0")
        defer { peer.kill() }
        let (version, refusal) = try await onLoop { loop in
            let stream = try await ByteStream.connected(to: port, on: loop)
            try await stream.secured(ClientTLSContext.Settings(minimum: .v10))
            let version = stream.tls?.version
            stream.close()
            let other = try await ByteStream.connected(to: port, on: loop)
            defer { other.close() }
            do {
                try await other.handshake(
                    as: ClientTLSContext.shared(for: ClientTLSContext.Settings()), to: serverName, within: 5000,
                    trusting: trustingServer)
                return (version, nil as HandshakeError?)
            } catch { return (version, error as? HandshakeError) }
        }
        #expect(version == .v10)
        #expect(refusal == .tls(.alert(TLSAlert(rawValue: 70))))
    }

    @Test(arguments: [TLSVersion.v12, .v13])
    func `The second connection resumes the first`(version: TLSVersion) async throws {
        let (peer, port) = try OpenSSLPeer.server("-www")
        defer { peer.kill() }
        let resumed = try await onLoop { loop in
            let slot = SessionCache<UInt16>().slot(for: port)
            var resumed: [Bool?] = []
            for _ in 0..<3 {
                let stream = try await ByteStream.connected(to: port, on: loop)
                try await stream.secured(ClientTLSContext.Settings(maximum: version), sessions: slot)
                try await stream.say("GET / HTTP/1.0\r\n\r\n")
                _ = try await stream.rest()
                resumed.append(stream.tls?.isResumed)
                stream.close()
            }
            return resumed
        }
        #expect(resumed == [false, true, true])
    }

    @Test func `A certificate that is refused ends the handshake, and the server hears why`() async throws {
        let (peer, port) = try OpenSSLPeer.server("")
        defer { peer.kill() }
        let error = try await onLoop { loop in
            let stream = try await ByteStream.connected(to: port, on: loop)
            defer { stream.close() }
            do {
                try await stream.handshake(
                    as: ClientTLSContext.shared(for: ClientTLSContext.Settings()), to: serverName, within: 5000
                ) { _ in nil }
                return nil as HandshakeError?
            } catch { return error as? HandshakeError }
        }
        #expect(error == .tls(.trustRefused))
        try peer.console.waits(for: "alert bad certificate")
    }

    @Test(arguments: [("-tls1_2 -no_resumption_on_reneg", "R"), ("-tls1_3", "c")])
    func `A server that wants a certificate later is given one`(version: String, command: String) async throws {
        let (peer, port) = try OpenSSLPeer.server(version)
        defer { peer.kill() }
        let console = peer.console
        let (answer, text) = try await onLoop { loop in
            let stream = try await ByteStream.connected(to: port, on: loop)
            try await stream.secured { _ in identity(TestPEM.client) }
            #expect(stream.tls?.identityAnswer == .notRequested)
            console.type("\(command)\n")
            // What is typed at once is one command to it.
            try console.waits(for: "SSL_do_handshake -> 1")
            console.type("after that\n")
            let text = try await stream.hears("after that")
            try await stream.say("thank you\n")
            defer { stream.close() }
            return (stream.tls?.identityAnswer, text)
        }
        #expect(answer == .shown)
        #expect(text == "after that\n")
        try peer.console.waits(for: "CN = client.example.test")
        try peer.console.waits(for: "thank you")
    }

    @Test func `A server that dies has not ended what it said`() async throws {
        let (peer, port) = try OpenSSLPeer.server("")
        defer { peer.kill() }
        let console = peer.console
        let error = try await onLoop { loop in
            let stream = try await ByteStream.connected(to: port, on: loop)
            defer { stream.close() }
            try await stream.secured()
            console.type("half of it\n")
            try await stream.hears("half of it")
            console.kill()
            do {
                _ = try await stream.rest()
                return nil as IOError?
            } catch { return error as? IOError }
        }
        #expect(error == .endOfStream)
    }

    @Test func `A connection at rest outlives what TLS says to itself, and not what the server says`() async throws {
        let (peer, port) = try OpenSSLPeer.server("")
        defer { peer.kill() }
        let console = peer.console
        let seen = try await onLoop { loop in
            let stream = try await ByteStream.connected(to: port, on: loop)
            try await stream.secured()
            defer { stream.close() }
            let watcher = Watcher()
            watcher.stream = stream
            stream.wakeup = nil
            stream.channel.observer = watcher
            // Tickets are on their way; then the server asks for new keys.
            console.type("K\n")
            try console.waits(for: "SSL_do_handshake -> 1")
            while watcher.events < 1 { await watcher.wakeup.wait() }
            console.type("something\n")
            while !watcher.wasReadable { await watcher.wakeup.wait() }
            stream.wakeup = Wakeup()
            stream.channel.observer = nil
            return (watcher.silent, try await stream.hears("something"))
        }
        #expect(seen.0 > 0)
        #expect(seen.1 == "something\n")
    }

    @Test func `A server that says nothing has a limit`() async throws {
        let error = try await onLoop { loop in
            let (near, _) = try await streams(on: loop)
            do {
                try await near.handshake(
                    as: ClientTLSContext.shared(for: ClientTLSContext.Settings()), to: serverName, within: 60,
                    trusting: trustingServer)
                return nil as HandshakeError?
            } catch { return error as? HandshakeError }
        }
        #expect(error == .connection(.timedOut))
    }
}

/// Acts like a pool that watches an idle connection.
private final class Watcher: Channel.Observer {
    var stream: ByteStream?
    let wakeup = Wakeup()
    var events = 0
    var silent = 0
    var wasReadable = false

    func channelChanged(_ channel: Channel) {
        events += 1
        if channel.isReadable, stream?.isReadable == false { silent += 1 }
        if stream?.isReadable == true { wasReadable = true }
        wakeup.signal()
    }
}
