// Invariant: any page, and any fields that come with it, are read within the limits and without a trap, and a login ends
// with any answer; nothing that it sends can end a request line. The text of the page that is shown to people is short,
// printable, and without the password.
import Authentication
import Bytes
import Crypto
import Model

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    // Lines of fields, then an empty line, then the page.
    let parts = input.split(separator: .lineFeed, maxSplits: 4, omittingEmptySubsequences: false).map { Array($0) }
    let page = parts.count > 4 ? parts[4] : Array(input)
    let forms = HTMLFormReader.forms(in: page, contentType: String(decoding: parts[0], as: UTF8.self))
    precondition(forms.count <= 32)
    precondition(forms.reduce(0) { $0 + $1.entries.count } <= 512)
    readExcerpt(of: page, parts[0])
    let template = LoginTemplate(
        action: "/login", fields: [.init(name: "user", value: [.user]), .init(name: "password", value: [.password])])
    var login = FormLogin(
        template, to: Origin(host: "host", port: 443, protocol: .https),
        with: Credential(name: "fuzz", user: "u", password: Secret("pässword")), boundary: "b")
    var step = login.begin(at: Array("/a/b?c".utf8))
    for round in 0... {
        switch step {
        case .loggedIn, .refused, .failed: return 0
        case .get(let target), .post(let target, _, _):
            precondition(round < 32, "a login without end")
            precondition(target.first == .slash)
            precondition(target.allSatisfy { $0 > .space && $0 < .delete })
            let location = round < parts.count && round % 2 == 0 ? parts[round] : nil
            let answer = LoginPage(
                status: location == nil ? 200 : 302 + round / 4, location: location,
                cookies: parts.prefix(4).map { $0 }, contentType: nil, content: page, isRecognised: false)
            step = login.received(answer, now: 0)
            let cookies = ByteBuffer(capacity: 64)
            login.jar.append(for: target.span, at: 0, to: cookies)
            let line = cookies.readable
            precondition(line.firstControl(from: 0) == line.count || line.firstIndex(of: .lineFeed) == nil)
        }
    }
    return 0
}

private func readExcerpt(of page: [UInt8], _ line: [UInt8]) {
    var mask = EchoMask()
    mask.add(Credential(name: "fuzz", user: "u", password: Secret("pässword")))
    mask.add(authorization: line.span)
    mask.add(cookies: line.span)
    let type = String(decoding: line, as: UTF8.self)
    for mediaType in [type, "text/html", "text/plain", nil] {
        var excerpt = ResponseExcerpt(status: 401, fields: [("X-Line", type)], hiding: mask)
        excerpt.take(page, mediaType: mediaType, hiding: mask)
        for text in excerpt.fields + [excerpt.text ?? ""] {
            precondition(text.utf8.count <= ResponseExcerpt.textLimit)
            precondition(Array(text.utf8).firstRange(of: Array("pässword".utf8)) == nil)
            precondition(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
    }
}
