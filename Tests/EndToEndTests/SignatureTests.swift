import Foundation
import Testing

/// Requests that a rule gives a signing key to carry a signature of AWS Signature Version 4.
struct SignatureTests {
    private static let secret = "Wj4lr-S1gn/K7MDENG+secret"

    private func signing(
        _ service: String = "s3", more: String = "", modifiers: String = "", rules: String = "",
        _ body: (AttacheProcess, RecordingOrigin) throws -> Void
    ) throws {
        let origin = try RecordingOrigin { connection in
            while let head = try connection.requestHead() {
                if head["Expect"] != nil { try connection.wire.send("HTTP/1.1 100 Continue\r\n\r\n") }
                let message = try connection.wire.readContent(of: head)
                connection.record(content: message)
                try connection.reply(body: "received \(message.body.count)")
            }
        }
        let rule = """
            credential cloud { aws eu-central-1 \(service); access-key AKIDEXAMPLE; secret-key file @/secret; \(more) }
            challenge "cloud" { host 127.0.0.1; port \(origin.port); use cloud; \(modifiers) }
            \(rules)
            """
        try AttacheProcess.running(rule, setting: .init(files: ["secret": Self.secret + "\n"])) { proxy throws in
            try body(proxy, origin)
            #expect(!proxy.accessLog.contains(Self.secret))
        }
    }

    private func expectSigned(_ origin: RecordingOrigin, service: String = "s3", _ count: Int = 1) throws {
        #expect(origin.contents.count == count)
        for message in origin.contents {
            let fault = try SignatureVerifier.fault(in: message, secret: Self.secret, isS3: service == "s3")
            #expect(fault == nil, "\(message.head)")
            #expect(message["Authorization"]?.contains("/eu-central-1/\(service)/aws4_request") == true)
        }
    }

    @Test(arguments: ["s3", "execute-api"])
    func `every request is signed, with its path, its query and its content`(service: String) throws {
        try signing(service) { proxy, origin throws in
            for target in ["/", "/a%20b/c%24d?x=%2f&list-type=2&a", "/bucket/key~1"] {
                #expect(try proxy.get(origin.url(target)).status == 200)
            }
            let posted = try proxy.get(origin.url("/p"), "-d", "some content", "-H", "X-Amz-Acl:  public   read")
            #expect(posted.text == "received 12")
            try expectSigned(origin, service: service, 4)
            let record = try #require(try proxy.records(atLeast: 4).last)
            #expect(record["scheme"] == "aws")
            #expect(record["credential"] == "cloud")
        }
    }

    @Test func `a request that a client signed with keys of its own is signed anew, where the rule says so`() throws {
        let fields = [
            "-H", "Authorization: AWS4-HMAC-SHA256 Credential=PLACEHOLDER/20200101/x/s3/aws4_request", "-H",
            "X-Amz-Date: 20200101T000000Z", "-H", "X-Amz-Security-Token: placeholder",
        ]
        try signing(more: "session-token T0ken", modifiers: "authorization replace") { proxy, origin throws in
            #expect(try Curl.fetch(origin.url("/k"), ["-x", proxy.address] + fields).status == 200)
            try expectSigned(origin)
            #expect(origin.contents.first?["X-Amz-Security-Token"] == "T0ken")
        }
        try signing { proxy, origin throws in
            #expect(try Curl.fetch(origin.url("/k"), ["-x", proxy.address] + fields).status == 200)
            #expect(origin.contents.first?["Authorization"]?.contains("PLACEHOLDER") == true)
            #expect(origin.contents.first?["X-Amz-Date"] == "20200101T000000Z")
        }
    }

    @Test func `a URL that is signed stays as it is`() throws {
        try signing { proxy, origin throws in
            #expect(try proxy.get(origin.url("/k?X-Amz-Expires=60&X-Amz-Signature=abc")).status == 200)
            #expect(origin.contents.first?["Authorization"] == nil)
        }
    }

    @Test(arguments: ["0123", "UNSIGNED-PAYLOAD", String(repeating: "0", count: 64)])
    func `content that can be kept is signed by a digest of the proxy's own`(stated: String) throws {
        try signing { proxy, origin throws in
            let file = try Payload.file(bytes: 5_000)
            let sent = try proxy.get(origin.url("/k"), "-T", file, "-H", "X-Amz-Content-Sha256: \(stated)")
            #expect(sent.text == "received 5000")
            #expect(try proxy.get(origin.url("/k"), "-H", "X-Amz-Content-Sha256: \(stated)").status == 200)
            try expectSigned(origin, 2)
            #expect(try origin.contents.first?["X-Amz-Content-Sha256"] == Hash.sha256(ofFile: file))
            #expect(origin.contents.last?["X-Amz-Content-Sha256"]?.hasPrefix("e3b0c442") == true)
        }
    }

    @Test(arguments: ["secure yes", "authorization replace; secure yes"])
    func `a rule for what is secure signs nothing over plain http`(modifiers: String) throws {
        try signing(more: "session-token T0ken", modifiers: modifiers) { proxy, origin throws in
            #expect(try proxy.get(origin.url("/k")).status == 200)
            let head = try #require(origin.contents.first)
            #expect(head["Authorization"] == nil)
            #expect(head["X-Amz-Security-Token"] == nil)
            #expect(head["X-Amz-Date"] == nil)
        }
        try signing(modifiers: "secure no") { proxy, origin throws in
            #expect(try proxy.get(origin.url("/k")).status == 200)
            try expectSigned(origin)
        }
    }

    @Test func `a digest of the client's counts where its content is streamed`() throws {
        try signing(rules: "limits { replay-memory 1k; replay-disk 0 }") { proxy, origin throws in
            let file = try Payload.file(bytes: 300_000)
            let digest = try Hash.sha256(ofFile: file)
            let sent = try proxy.get(origin.url("/k"), "-T", file, "-H", "X-Amz-Content-Sha256: \(digest)")
            #expect(sent.text == "received 300000")
            try expectSigned(origin)
            #expect(origin.contents.first?["X-Amz-Content-Sha256"] == digest)
        }
    }

    @Test(arguments: [true, false])
    func `content is read for its digest as long as it can be kept`(isChunked: Bool) throws {
        let framing = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
        let file = try Payload.file(bytes: 300_000)
        try signing { proxy, origin throws in
            let sent = try Curl.fetch(origin.url("/k"), ["-x", proxy.address, "-T", file] + framing)
            #expect(sent.text == "received 300000", "\(sent)")
            try expectSigned(origin)
            #expect(try origin.contents.first?["X-Amz-Content-Sha256"] == Hash.sha256(ofFile: file))
        }
        try signing(rules: "limits { replay-memory 32k; replay-disk 64k }") { proxy, origin throws in
            let sent = try Curl.fetch(origin.url("/k"), ["-x", proxy.address, "-T", file] + framing)
            #expect(sent.text == "received 300000", "\(sent)")
            try expectSigned(origin)
            #expect(origin.contents.first?["X-Amz-Content-Sha256"] == "UNSIGNED-PAYLOAD")
        }
    }

    @Test func `a service that takes no unsigned content gets none`() throws {
        try signing("execute-api", rules: "limits { replay-memory 32k; replay-disk 64k }") { proxy, origin throws in
            let sent = try proxy.get(origin.url("/k"), "-T", try Payload.file(bytes: 300_000), "-H", "Expect:")
            #expect(sent.status == 413, "\(sent)")
            #expect(sent["Proxy-Status"]?.contains("replay-memory") == true)
            #expect(origin.contents.isEmpty)
        }
    }

    @Test func `content goes unsigned where the credential says so`() throws {
        try signing(more: "payload unsigned") { proxy, origin throws in
            #expect(try proxy.get(origin.url("/k"), "-d", "some content").text == "received 12")
            try expectSigned(origin)
            #expect(origin.contents.first?["X-Amz-Content-Sha256"] == "UNSIGNED-PAYLOAD")
        }
    }

    @Test func `pieces that the client has signed are refused with a reason`() throws {
        try signing(modifiers: "authorization replace") { proxy, origin throws in
            let sent = try proxy.get(
                origin.url("/k"), "-d", "a", "-H", "X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
            #expect(sent.status == 501)
            #expect(sent.text.contains("in chunks"))
            #expect(origin.contents.isEmpty)
        }
    }

    @Test func `another host gets no signature`() throws {
        let other = try RecordingOrigin.answering()
        try signing { proxy, _ throws in
            #expect(try proxy.get(other.url()).status == 200)
            #expect(other.messages.first?["Authorization"] == nil)
            #expect(other.messages.first?["X-Amz-Date"] == nil)
        }
    }

    @Test func `a key that cannot be read ends the request with a reason`() throws {
        let rule = """
            credential cloud { aws eu-central-1 s3; access-key A; secret-key file @/nothing }
            challenge { host 127.0.0.1; use cloud }
            """
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.running(rule) { proxy throws in
            let refused = try proxy.get(origin.url())
            #expect(refused.status == 502)
            #expect(refused.text.contains("credential cloud, which signs requests to this server, cannot be read"))
            #expect(origin.messages.isEmpty)
        }
    }
}
