import IO
import TestNetwork

/// Plays one conversation from its first step to its last.
struct Performance {
    struct Failure: Error {
        let sentence: String
    }

    private let script: Script
    private let stage: Stage

    /// The whole conversation with the first difference marked, or nil if there is none.
    static func failure(of conversation: String, rules: String) -> String? {
        do {
            let script = try Script(conversation)
            let performance = Performance(script: script, stage: try Stage(rules, files: script.firstFiles))
            return performance.stage.loop.occupyThread { performance.play() }
        } catch let flaw as Script.Flaw {
            return "the conversation cannot be read: \(flaw.sentence)"
        } catch { return "the conversation cannot begin: \(error)" }
    }

    private func play() -> String? {
        var place = 0
        do {
            while place < script.steps.count {
                try perform(script.steps[place])
                place += 1
            }
            try stage.settle()
            try stage.requireNothingUnnamed()
            if script.speaksOfRecords { try stage.requireNoRecord() }
            try stage.leave()
            try stage.requireBalancedLog()
            return nil
        } catch {
            let sentence = (error as? Failure)?.sentence ?? "\(error)"
            return transcript(until: place, sentence)
        }
    }

    private func transcript(until place: Int, _ sentence: String) -> String {
        var lines = [""]
        for (number, step) in script.steps.enumerated().prefix(place + 1) {
            lines += step.lines.enumerated().map { ($0 == 0 && number == place ? "  ✘   " : "      ") + $1 }
        }
        if place >= script.steps.count { lines.append("  ✘   (the end)") }
        lines.append("  ✘ \(sentence)")
        return
            (lines + stage.unnamed.map { "    has come: \($0)" } + stage.reports.map { "    report: \($0)" }
            + stage.records.map { "    log: \($0)" })
            .joined(separator: "\n")
    }

    private func perform(_ step: Script.Step) throws {
        if step.isJoined {
            if case .pass(let milliseconds) = step.action { return stage.skip(milliseconds) }
            return try act(step.action)
        }
        try stage.settle()
        switch step.action {
        case .expect(let party, let matter): try expect(party, matter)
        case .connect(let place, let outcome): try stage.answerDial(to: place, outcome)
        case .report(let text): try stage.requireReport(text)
        case .log(let text): try stage.requireRecord(text)
        case .metric(let line): try stage.requireMetric(line)
        case .journal(let text): try stage.requireEntry(text)
        case .question(let text): try stage.requireQuestion(text)
        case .send, .pass, .reload, .file, .refresh, .answer:
            try stage.requireNothingUnnamed()
            try act(step.action)
        }
    }

    private func act(_ action: Script.Action) throws {
        switch action {
        case .send(let party, let matter): try send(party, matter)
        case .pass(let milliseconds): try stage.pass(milliseconds)
        case .reload(let rules): try stage.reload(rules)
        case .file(let name, let content): try stage.write(content, to: name)
        case .refresh: stage.refresh()
        case .answer(let words): try stage.answer(words)
        case .expect, .connect, .report, .log, .metric, .journal, .question: break
        }
    }

    // MARK: - For the proxy

    private func send(_ party: Script.Party?, _ matter: Script.Matter) throws {
        var sender = party
        if case .message(let message) = matter, party == nil {
            sender = message.isResponse ? stage.lastAsked.map { .server($0) } : .client(1)
        }
        guard let sender else { throw Failure(sentence: "the step needs a party") }
        switch matter {
        case .accept: return try stage.settleDial(of: sender, .accepted)
        case .refuse: return try stage.settleDial(of: sender, .refused)
        default: break
        }
        let end = try stage.end(of: sender, isNew: true)
        switch matter {
        case .message(let message):
            end.sent = PlayedEnd.Progress(isChunked: message.isChunked)
            say(message.bytes(stage.variables), as: sender, on: end)
        case .content(let count):
            let content = PlayedContent.bytes(count, from: end.sent.count)
            end.sent.count += count
            end.send(end.sent.isChunked ? Array("\(String(count, radix: 16))\r\n".utf8) + content + [13, 10] : content)
        case .endOfContent: end.send(Array("0\r\n\r\n".utf8))
        case .raw(let text):
            say(try Script.bytes(of: stage.variables.filled(text)), as: sender, on: end)
        case .close: end.close()
        case .end: end.endSending()
        case .reset: end.reset()
        case .room: end.makeRoom()
        case .tls(let host, let name): try end.speakTLS(as: host, accepting: name)
        case .accept, .refuse: break
        }
    }

    private func say(_ bytes: [UInt8], as sender: Script.Party, on end: PlayedEnd) {
        if case .client = sender { stage.log.noteRequests(in: bytes) }
        end.send(bytes)
    }

    // MARK: - From the proxy

    private func expect(_ party: Script.Party?, _ matter: Script.Matter) throws {
        var receiver = party
        if party == nil, case .message(let message) = matter {
            receiver = try stage.receiver(isClient: message.isResponse)
        }
        guard let receiver else { throw Failure(sentence: "the step needs a party") }
        if case .close = matter, try stage.nameEndOfDial(of: receiver) { return }
        let end = try stage.end(of: receiver, isNew: false)
        switch matter {
        case .message(let message):
            try expect(message, at: end)
            if case .server(let number) = receiver { stage.lastAsked = number }
        case .content(let count): try expect(content: count, at: end)
        case .endOfContent:
            try require(end.named.chunk == 0, "the last chunk is not over")
            try expect(Array("0\r\n\r\n".utf8), at: end)
        case .raw(let text): try expect(try Script.bytes(of: stage.variables.filled(text)), at: end)
        case .close:
            try require(end.end == .all, "the connection is not closed")
            end.namedEnd = .all
        case .end:
            try require(end.end == .sending, end.end == .all ? "the connection is closed" : "nothing has ended")
            end.namedEnd = .sending
        case .reset, .room, .tls, .accept, .refuse: throw Failure(sentence: "the proxy does no such thing")
        }
    }

    private func require(_ isTrue: Bool, _ sentence: String) throws {
        if !isTrue { throw Failure(sentence: sentence) }
    }

    private func expect(_ bytes: [UInt8], at end: PlayedEnd) throws {
        try require(end.incoming.starts(with: bytes), "these bytes have not come")
        end.incoming.removeFirst(bytes.count)
    }

    private func expect(_ message: MessageText, at end: PlayedEnd) throws {
        guard let head = PlayedHead(end.incoming) else { throw Failure(sentence: "no message has come") }
        if let difference = message.difference(from: head, &stage.variables) { throw Failure(sentence: difference) }
        end.incoming.removeFirst(head.count)
        end.named = PlayedEnd.Progress(isChunked: head["transfer-encoding"]?.lowercased() == "chunked")
        guard let pattern = message.content else { return }
        let content = try content(behind: head, at: end)
        try require(
            stage.variables.match(pattern, String(decoding: content, as: UTF8.self)),
            "the content is “\(String(decoding: content.prefix(2000), as: UTF8.self))”")
    }

    /// All of it.
    private func content(behind head: PlayedHead, at end: PlayedEnd) throws -> [UInt8] {
        if end.named.isChunked {
            var content: [UInt8] = []
            while let byte = try nextOfChunks(at: end) { content.append(byte) }
            try expect(Array("0\r\n\r\n".utf8), at: end)
            return content
        }
        let count = head["content-length"].flatMap { Int($0) } ?? end.incoming.count
        try require(end.incoming.count >= count, "only \(end.incoming.count) bytes of \(count) have come")
        defer { end.incoming.removeFirst(count) }
        return Array(end.incoming.prefix(count))
    }

    private func expect(content count: Int, at end: PlayedEnd) throws {
        var received: [UInt8] = []
        if end.named.isChunked {
            while received.count < count, let byte = try nextOfChunks(at: end) { received.append(byte) }
        } else {
            received = Array(end.incoming.prefix(count))
            end.incoming.removeFirst(received.count)
        }
        try require(received.count == count, "only \(received.count) bytes have come")
        try require(
            received == PlayedContent.bytes(count, from: end.named.count), "the bytes are not those that were sent")
        end.named.count += count
    }

    /// The next byte of content in chunks; nil: there is none, or the last chunk comes next.
    private func nextOfChunks(at end: PlayedEnd) throws -> UInt8? {
        if end.named.chunk == 0 {
            guard let line = end.incoming.firstRange(of: [13, 10]) else { return nil }
            let text = String(decoding: end.incoming[..<line.lowerBound], as: UTF8.self)
            guard let size = Int(text, radix: 16) else { throw Failure(sentence: "“\(text)” is no size of a chunk") }
            if size == 0 { return nil }
            end.incoming.removeSubrange(..<line.upperBound)
            end.named.chunk = size
        }
        guard let byte = end.incoming.popFirst() else { return nil }
        end.named.chunk -= 1
        if end.named.chunk == 0 { try expect([13, 10], at: end) }
        return byte
    }
}

/// Content whose bytes show their position in it.
enum PlayedContent {
    static func bytes(_ count: Int, from start: Int) -> [UInt8] {
        (start..<start + count).map { UInt8(truncatingIfNeeded: 33 + ($0 &* 7 &+ $0 >> 8) % 90) }
    }
}
