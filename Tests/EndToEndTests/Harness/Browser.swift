import Foundation
import TestSupport
import Testing

/// A headless Chromium with one page, driven by the DevTools protocol over two pipes. It reaches nothing but this machine.
final class Browser {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let child: Subprocess
    private let commands: Int32
    private let events: Int32
    private var input: [UInt8] = []
    private var number = 0
    private var session: String?
    /// Exceptions of scripts and messages of the page, such as breaches of its security policy.
    private(set) var complaints: [String] = []

    /// - Parameters:
    ///   - trustsAnyCertificate: whether the browser accepts a certificate of an unknown CA.
    ///   - proxy: the URL of the proxy for all servers but those of loopback; nil: none.
    init(trustsAnyCertificate: Bool = false, through proxy: String? = nil) throws {
        let folder = Scratch.folder("browser")
        mkfifo("\(folder)/commands", 0o600)
        mkfifo("\(folder)/events", 0o600)
        // For both directions, so that neither side waits for the other to open it.
        commands = open("\(folder)/commands", O_RDWR | O_CLOEXEC)
        events = open("\(folder)/events", O_RDWR | O_CLOEXEC)
        let trust = trustsAnyCertificate ? ["--ignore-certificate-errors"] : []
        child = try Subprocess(
            "sh",
            [
                "-c", "exec \"$@\" 3<commands 4>events", "sh", try Spawn.executable("chromium"), "--headless=new",
                "--remote-debugging-pipe", "--user-data-dir=\(folder)/profile", "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-sync",
                "--disable-component-update", proxy.map { "--proxy-server=\($0)" } ?? "--no-proxy-server",
                "--hide-scrollbars",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ] + trust + ["about:blank"], directory: folder)
        let target = try call("Target.createTarget", ["url": "about:blank"])["targetId"] as? String
        let attached = try call("Target.attachToTarget", ["targetId": target ?? "", "flatten": true])
        session = attached["sessionId"] as? String
        for domain in ["Page", "Runtime", "Log"] { try call("\(domain).enable") }
        try resize(width: 1280, height: 860)
    }

    deinit {
        _ = child.kill()
        close(commands)
        close(events)
    }

    // MARK: Pages

    func visit(_ url: String) throws {
        try call("Page.navigate", ["url": url])
    }

    /// - Parameter scale: pixels for each of the page's.
    func resize(width: Int, height: Int, scale: Int = 1) throws {
        try call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": scale, "mobile": false])
    }

    func prefer(dark: Bool) throws {
        try call(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]]])
    }

    /// The value of an expression in the page.
    @discardableResult
    func evaluate(_ expression: String) throws -> Any? {
        let answer = try call(
            "Runtime.evaluate",
            ["expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true])
        if let details = answer["exceptionDetails"] { throw Failure(description: "\(expression): \(details)") }
        return (answer["result"] as? [String: Any])?["value"]
    }

    /// The text that the page shows; or a part of it, by a selector.
    func text(of selector: String = "body") throws -> String {
        try evaluate("document.querySelector(\(Self.quoted(selector)))?.innerText ?? ''") as? String ?? ""
    }

    /// Waits until the page shows a text, there.
    func awaitText(_ text: String, in selector: String = "body") throws {
        guard try Wait.until({ try self.text(of: selector).contains(text) }) else {
            throw Failure(description: "'\(text)' is not shown in \(selector): \(try self.text())")
        }
    }

    /// Waits until the element of that selector takes the focus, as one that is hidden does not.
    private func focus(_ selector: String) throws {
        let isThere = try Wait.until {
            try evaluate(
                "(() => { const node = document.querySelector(\(Self.quoted(selector))); node?.focus(); "
                    + "return node !== null && node === document.activeElement })()") as? Bool == true
        }
        guard isThere else { throw Failure(description: "nothing takes the focus for \(selector): \(try text())") }
    }

    /// Has the element of that selector focused, and presses a key.
    func press(_ key: String, on selector: String) throws {
        try focus(selector)
        try press(key)
    }

    /// - Parameter key: as `KeyboardEvent.key` names it.
    func press(_ key: String) throws {
        let codes = ["Enter": 13, "Tab": 9, "ArrowLeft": 37, "Escape": 27]
        var event: [String: Any] = ["type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key] ?? 0]
        if key == "Enter" { event["text"] = "\r" }
        try call("Input.dispatchKeyEvent", event)
        event["type"] = "keyUp"
        event["text"] = nil
        try call("Input.dispatchKeyEvent", event)
    }

    func type(_ text: String, into selector: String) throws {
        try focus(selector)
        try insert(text)
    }

    /// Pastes a text where the focus is.
    func insert(_ text: String) throws { try call("Input.insertText", ["text": text]) }

    /// Puts files that the page saves from now on into a folder.
    func save(to folder: String) throws {
        try call("Page.setDownloadBehavior", ["behavior": "allow", "downloadPath": folder])
    }

    /// The roles of controls and pictures that have no name in the accessibility tree.
    func unnamedControls() throws -> [String] {
        let tree = try call("Accessibility.getFullAXTree")["nodes"] as? [[String: Any]] ?? []
        return tree.compactMap { node in
            let value = { (name: String) in (node[name] as? [String: Any])?["value"] as? String ?? "" }
            guard node["ignored"] as? Bool == false, Self.controls.contains(value("role")), value("name").isEmpty else {
                return nil
            }
            return value("role")
        }
    }

    private static let controls: Set = [
        "button", "link", "textbox", "searchbox", "combobox", "checkbox", "Date", "DisclosureTriangle", "dialog", "img",
        "table", "navigation",
    ]

    /// Writes a picture of what is in the window to a file.
    func picture(_ path: String) throws {
        // Styles that have just changed are at work with the next frame.
        try evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        let answer = try call("Page.captureScreenshot", ["format": "png"])
        guard let data = (answer["data"] as? String).flatMap({ Data(base64Encoded: $0) }) else {
            throw Failure(description: "there is no picture in the answer")
        }
        try data.write(to: URL(fileURLWithPath: path))
    }

    static func quoted(_ text: String) -> String {
        let data = try? JSONSerialization.data(withJSONObject: text, options: .fragmentsAllowed)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "''"
    }

    // MARK: The protocol

    @discardableResult
    private func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        number += 1
        var message: [String: Any] = ["id": number, "method": method, "params": parameters]
        message["sessionId"] = session
        var bytes = [UInt8](try JSONSerialization.data(withJSONObject: message)) + [0]
        while !bytes.isEmpty {
            let count = write(commands, bytes, bytes.count)
            guard count > 0 else { throw Failure(description: "\(method) cannot be sent: \(child.errorOutput)") }
            bytes.removeFirst(count)
        }
        while true {
            let answer = try next(for: method)
            if answer["id"] as? Int == number {
                if let error = answer["error"] { throw Failure(description: "\(method): \(error)") }
                return answer["result"] as? [String: Any] ?? [:]
            }
            switch answer["method"] as? String {
            case "Runtime.exceptionThrown", "Log.entryAdded": complaints.append("\(answer["params"] ?? "")")
            default: break
            }
        }
    }

    /// The next message; they end with a zero byte.
    private func next(for method: String) throws -> [String: Any] {
        while true {
            if let end = input.firstIndex(of: 0) {
                let message = try JSONSerialization.jsonObject(with: Data(input[..<end]))
                input.removeFirst(end + 1)
                return message as? [String: Any] ?? [:]
            }
            var wait = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, 60_000) == 1 else {
                throw Failure(description: "no answer to \(method): \(child.errorOutput)")
            }
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(events, &piece, piece.count)
            guard count > 0 else { throw Failure(description: "no answer to \(method): \(child.errorOutput)") }
            input += piece.prefix(count)
        }
    }
}
