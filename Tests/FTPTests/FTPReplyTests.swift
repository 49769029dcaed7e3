import Bytes
import Crypto
import Testing

@testable import FTP

struct FTPReplyTests {
    @Test(arguments: [
        ("530 Login incorrect.\r\n", 530, "Login incorrect."), ("220 \r\n", 220, ""),
        ("550 a\u{1B}[2Jb\r\n", 550, "a?[2Jb"), ("226 done", 226, "done"),
    ])
    func `a reply's last line is code and text`(line: String, code: Int, text: String) {
        let reply = FTPSession.Reply(line: Array(line.utf8).span)
        #expect(reply?.code == code)
        #expect(reply?.text == text)
    }

    @Test(arguments: ["220-welcome\r\n", " 220 x\r\n", "22 x\r\n", "999 x\r\n", "2x0 y\r\n", "", "220"])
    func `other lines are none`(line: String) {
        #expect(FTPSession.Reply(line: Array(line.utf8).span) == nil)
    }

    @Test func `a text is not longer than an answer can hold`() {
        let line = Array(("550 " + String(repeating: "x", count: 5000)).utf8)
        #expect(FTPSession.Reply(line: line.span)?.text.count == 200)
    }

    @Test(arguments: [("user", "password", true), ("us\ner", "x", false), ("u", "p\rDELE x", false), ("", "x", false)])
    func `a login that would end its command is none`(user: String, password: String, isLogin: Bool) {
        #expect((FTPServer.Login(user: Array(user.utf8), password: Secret(password)) != nil) == isLogin)
    }
}
