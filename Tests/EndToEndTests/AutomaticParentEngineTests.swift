import Foundation
import TestSupport
import Testing

/// The engines that evaluate PAC files, as the process that the proxy starts.
struct AutomaticParentEngineTests {
    enum Engine: String, CaseIterable {
        case javaScriptCore, pacparser

        static let all = allCases.filter(\.isInstalled)

        var isInstalled: Bool {
            let names =
                self == .pacparser
                ? ["libpacparser.so"] : ["libjavascriptcoregtk-4.1.so", "libjavascriptcoregtk-6.0.so"]
            let libraries = (try? Finished.run("/sbin/ldconfig", ["-p"]).output) ?? ""
            return names.contains { libraries.contains($0) }
        }
    }

    /// The worker's lines: whether the script can be used, and the answer for each question.
    private func lines(
        _ script: Data, _ engine: Engine, _ questions: [String] = ["http://a.test:80/ a.test"], seconds: Double = 60,
        isConfined: Bool = false
    ) throws -> [String] {
        let folder = Scratch.folder("pac-engine")
        try script.write(to: URL(filePath: folder + "/proxy.pac"))
        let words = ["pac-worker", folder + "/proxy.pac"] + (engine == .pacparser ? ["pacparser"] : [])
        try Scratch.write(questions.map { $0 + "\n" }.joined(), to: folder + "/questions")
        let program = isConfined ? ["python3"] : [AttacheBinary.path]
        let arguments = isConfined ? try Confinement.words(for: AttacheBinary.path, words) : words
        let run = try Finished.run(
            "/bin/sh", ["-c", "TZ=UTC exec \"$0\" \"$@\" < \(folder)/questions"] + program + arguments,
            seconds: seconds)
        return run.output.split(separator: "\n").map(String.init)
    }

    private func lines(
        _ script: String, _ engine: Engine, _ questions: [String] = ["http://a.test:80/ a.test"], seconds: Double = 60
    ) throws -> [String] {
        try lines(Data(script.utf8), engine, questions, seconds: seconds)
    }

    /// The value of an expression as text.
    private func value(_ expression: String, _ engine: Engine) throws -> String {
        let script = "function FindProxyForURL(url, host) { return String(\(expression)); }"
        let lines = try lines(script, engine)
        return lines.count == 2 ? lines[1] : "\(lines)"
    }

    // MARK: - Both alike

    private static let values: [(String, String)] = [
        ("isPlainHostName('www')", "true"), ("isPlainHostName('www.a.test')", "false"),
        ("dnsDomainIs('www.a.test', '.a.test')", "true"), ("dnsDomainIs('a.test', 'www.a.test')", "false"),
        ("localHostOrDomainIs('www', 'www.a.test')", "true"), ("localHostOrDomainIs('ww', 'www.a.test')", "false"),
        ("dnsDomainLevels('www.a.test')", "2"), ("dnsDomainLevels('www')", "0"),
        ("shExpMatch('www.a.test', '*.a.test')", "true"), ("shExpMatch('wwwxa.test', '*.a.test')", "false"),
        ("shExpMatch('ab', 'a?')", "true"), ("shExpMatch('host1', 'host[0-9]')", "true"),
        ("dnsResolve('127.0.0.1')", "127.0.0.1"), ("dnsResolve('localhost')", "127.0.0.1"),
        ("dnsResolve('no.such.invalid')", "null"), ("isResolvable('no.such.invalid')", "false"),
        ("dnsResolve('::1')", "null"), ("dnsResolveEx('::1')", "::1"), ("dnsResolveEx('no.such.invalid')", ""),
        ("isResolvable('127.0.0.1')", "true"), ("isResolvableEx('::1')", "true"),
        ("isResolvableEx('no.such.invalid')", "false"),
        ("isInNet('10.1.2.3', '10.0.0.0', '255.0.0.0')", "true"),
        ("isInNet('11.1.2.3', '10.0.0.0', '255.0.0.0')", "false"),
        ("isInNet('200.1.2.3', '200.1.0.0', '255.255.0.0')", "true"),
        ("isInNet('localhost', '127.0.0.0', '255.0.0.0')", "true"),
        ("isInNet('no.such.invalid', '0.0.0.0', '0.0.0.0')", "false"),
        ("isInNet('1.2.3.400', '1.2.3.0', '255.255.255.0')", "false"),
        ("isInNetEx('10.1.2.3', '10.0.0.0/8')", "true"), ("isInNetEx('11.1.2.3', '10.0.0.0/8')", "false"),
        ("isInNetEx('2001:db8::1', '2001:db8::/32')", "true"), ("isInNetEx('2001:db9::1', '2001:db8::/32')", "false"),
        ("isInNetEx('2001:db8:ff::1', '2001:db8:80::/41')", "true"),
        ("isInNetEx('2001:db8:7f::1', '2001:db8:80::/41')", "false"),
        ("isInNetEx('10.1.2.3', '2001:db8::/32')", "false"), ("isInNetEx('10.1.2.3', '10.0.0.0/33')", "false"),
        ("isInNetEx('10.1.2.3', '10.0.0.0')", "false"), ("isInNetEx('10.1.2.3', '10.0.0.0/')", "false"),
        ("isInNetEx('::ffff:10.1.2.3', '::ffff:0:0/96')", "true"), ("isInNetEx('::', '::/0')", "true"),
        (
            "sortIpAddressList('10.2.3.9;2001:4898:28:3:201:2ff:feea:fc14;::1;127.0.0.1;::9')",
            "::1;::9;2001:4898:28:3:201:2ff:feea:fc14;10.2.3.9;127.0.0.1"
        ),
        ("sortIpAddressList('10.0.0.10; 10.0.0.9')", "10.0.0.9;10.0.0.10"), ("sortIpAddressList('a;10.0.0.9')", ""),
        ("sortIpAddressList('1::2::3')", ""), ("sortIpAddressList('1:2:3:4:5:6:7:8')", "1:2:3:4:5:6:7:8"),
        ("sortIpAddressList('1:2:3:4:5:6:7:8:9')", ""), ("sortIpAddressList('1:2:3')", ""),
        ("convert_addr('192.168.0.1')", "-1062731775"), ("convert_addr('x')", "0"),
        ("getClientVersion()", "1.0"), ("alert('x')", "undefined"), ("typeof myIpAddress()", "string"),
        ("typeof myIpAddressEx()", "string"),
    ]

    /// The expectations at 13:45:30 on Wednesday, 25 February 2026. The worker has TZ=UTC.
    private static let times: [(String, String)] = [
        ("weekdayRange('WED')", "true"), ("weekdayRange('MON', 'FRI')", "true"), ("weekdayRange('THU')", "false"),
        ("weekdayRange('SAT', 'WED', 'GMT')", "true"), ("weekdayRange('SAT', 'TUE')", "false"),
        ("weekdayRange('MOONDAY')", "false"), ("dateRange(25)", "true"), ("dateRange(24, 'GMT')", "false"),
        ("dateRange(20, 28)", "true"), ("dateRange(26, 24)", "false"), ("dateRange(28, 25)", "true"),
        ("dateRange('FEB')", "true"), ("dateRange('MAR', 'JAN')", "false"), ("dateRange('NOV', 'MAR')", "true"),
        ("dateRange(2026)", "true"), ("dateRange(2020, 2025)", "false"), ("dateRange(2027, 2020)", "false"),
        ("dateRange(1, 'FEB', 28, 'FEB')", "true"), ("dateRange(24, 'DEC', 6, 'JAN')", "false"),
        ("dateRange('JAN', 2026, 'MAR', 2026)", "true"), ("dateRange(1, 'MAR', 2025, 24, 'FEB', 2026)", "false"),
        ("dateRange(1, 'MAR', 2025, 25, 'FEB', 2026, 'GMT')", "true"), ("dateRange()", "false"),
        ("dateRange(1, 'FEB')", "false"), ("timeRange(13)", "true"), ("timeRange(14)", "false"),
        ("timeRange(9, 17)", "true"), ("timeRange(22, 6)", "false"), ("timeRange(22, 14)", "true"),
        ("timeRange(13, 44, 13, 45)", "true"), ("timeRange(13, 46, 14, 0)", "false"),
        ("timeRange(13, 45, 30, 13, 45, 30, 'GMT')", "true"), ("timeRange(13, 45, 31, 14, 0, 0)", "false"),
    ]

    @Test(arguments: Engine.all) func `the functions that a script finds behave alike`(engine: Engine) throws {
        let clock = "attachePAC.now = function () { return new Date(Date.UTC(2026, 1, 25, 13, 45, 30)); };"
        let all = (Self.values + Self.times).map(\.0)
        let table = all.enumerated().map { "'\($0)': function () { return \($1); }" }.joined(separator: ",\n")
        let script = "\(clock)\nvar t = {\(table)};\nfunction FindProxyForURL(url, host) { return String(t[host]()); }"
        let found = try lines(script, engine, all.indices.map { "http://a.test:80/ \($0)" })
        #expect(found.count == all.count + 1, "\(found)")
        for (line, (expression, wanted)) in zip(found.dropFirst(), Self.values + Self.times) {
            #expect(line == "+\(wanted)", "\(expression)")
        }
    }

    /// The filters of the systemd unit, in which compiled JavaScript could not run.
    @Test(.enabled(if: Confinement.isPossible, "libseccomp or systemd-analyze is not installed"), arguments: Engine.all)
    func `an engine works under the unit's filters of system calls`(engine: Engine) throws {
        let script = """
            function FindProxyForURL(url, host) {
                for (var i = 0, sum = 0; i < 1000000; i++) sum = (sum + i * i) % 1000003;
                if (/^(a|b)+\\.test$/.test(host)) return "PROXY p:" + sum + "; " + dnsResolve("localhost") + typeof myIpAddress();
                for (var a = [];;) a.push({x: a.length, y: [1, 2, 3]});
            }
            """
        let questions = ["ab.test", "ba.test"] + (engine == .javaScriptCore ? ["bomb.test"] : [])
        let read = { (isConfined: Bool) in
            try lines(
                Data(script.utf8), engine, questions.map { "http://\($0):80/ \($0)" }, seconds: 300,
                isConfined: isConfined)
        }
        let (free, confined) = (try read(false), try read(true))
        #expect(confined.count == questions.count + 1 && confined == free, "\(confined) \(free)")
        #expect(
            confined.dropFirst().prefix(2).allSatisfy { $0.hasPrefix("+PROXY p:") && $0.hasSuffix("; 127.0.0.1string") }
        )
        #expect(confined.dropFirst(3).allSatisfy { $0.hasPrefix("-") })
    }

    @Test(.enabled(if: Confinement.isPossible, "libseccomp or systemd-analyze is not installed"))
    func `the filters refuse what the unit refuses`() throws {
        let script = """
            import ctypes, mmap, os, socket
            def refused(call):
                try: call()
                except OSError as error: return error.errno
            print(refused(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)))
            print(refused(lambda: socket.socket(socket.AF_PACKET)), refused(lambda: socket.socket(socket.AF_INET)))
            print(refused(lambda: os.chroot("/")), refused(lambda: os.nice(1)))
            """
        let run = try Finished.run("python3", Confinement.words(for: "python3", ["-c", script]))
        #expect(run.output == "1\n97 None\n1 1\n", "\(run)")
    }

    @Test(arguments: Engine.all) func `an own address is one of this machine's`(engine: Engine) throws {
        let first = try value("myIpAddress()", engine).dropFirst()
        let all = try value("myIpAddressEx()", engine).dropFirst().split(separator: ";")
        #expect(!all.isEmpty && first.split(separator: ".").count == 4)
        #expect(all.contains(first) || first == "127.0.0.1")
    }

    @Test(arguments: Engine.all) func `a script with a byte-order mark is read`(engine: Engine) throws {
        let script = "function FindProxyForURL(url, host) { return 'PROXY a:1'; }"
        let files = [
            Data([0xEF, 0xBB, 0xBF]) + Data(script.utf8), Data([0xFF, 0xFE]) + script.data(using: .utf16LittleEndian)!,
            Data([0xFE, 0xFF]) + script.data(using: .utf16BigEndian)!,
        ]
        for file in files { #expect(try lines(file, engine) == ["+", "+PROXY a:1"]) }
    }

    @Test(arguments: Engine.all) func `FindProxyForURLEx goes before FindProxyForURL`(engine: Engine) throws {
        let old = "function FindProxyForURL(url, host) { return 'PROXY old:1'; }\n"
        let new = "function FindProxyForURLEx(url, host) { return 'PROXY ' + host + ':1'; }\n"
        #expect(try lines(old + new, engine) == ["+", "+PROXY a.test:1"])
        #expect(try lines(new, engine) == ["+", "+PROXY a.test:1"])
        #expect(try lines(old, engine) == ["+", "+PROXY old:1"])
    }

    @Test(arguments: Engine.all) func `a script that gives no text says so`(engine: Engine) throws {
        for (result, kind) in [
            ("null", "null"), ("undefined", "undefined"), ("5", "number"), ("{}", "object"), ("['DIRECT']", "object"),
        ] {
            let found = try lines("function FindProxyForURL(url, host) { return \(result); }", engine)
            #expect(found.count == 2 && found[1].hasPrefix("-"), "\(found)")
            #expect(found.last?.contains("FindProxyForURL returns \(kind) for a.test") == true, "\(found)")
        }
        let none = try lines("var x = 1;", engine)
        #expect(none.count == 1 && none[0].hasPrefix("-"))
        #expect(none[0].contains("it has no function FindProxyForURL(url, host)"), "\(none)")
    }

    @Test(arguments: Engine.all) func `an exception fails its question only`(engine: Engine) throws {
        let script = """
            function deep() { return deep() + 1; }
            function FindProxyForURL(url, host) {
                if (host == "thrown") throw new Error("that is wrong");
                if (host == "missing") return nothing.there;
                if (host == "deep") return deep();
                if (host == "huge") { var text = "x"; for (;;) text += text; }
                return "DIRECT";
            }
            """
        let hosts = ["thrown", "missing", "deep", "good"] + (engine == .pacparser ? [] : ["huge", "good"])
        let found = try lines(script, engine, hosts.map { "http://\($0):80/ \($0)" }).dropFirst()
        #expect(found.count == hosts.count, "\(found)")
        for (line, host) in zip(found, hosts) { #expect(line.hasPrefix(host == "good" ? "+DIRECT" : "-"), "\(line)") }
        #expect(found.first?.contains("that is wrong") == true)
    }

    @Test(arguments: Engine.all) func `one process answers with the same text as often as it is asked`(
        engine: Engine
    ) throws {
        let script = "function FindProxyForURL(url, host) { return host == 'a' ? 'DIRECT' : 'PROXY p:1'; }"
        let questions = (0..<500).map { "http://a.test:80/ \($0 % 2 == 0 ? "a" : "b")" }
        let found = try lines(script, engine, questions)
        #expect(found == ["+"] + (0..<500).map { $0 % 2 == 0 ? "+DIRECT" : "+PROXY p:1" })
    }

    // MARK: - JavaScriptCore

    private static let modern = """
        // The language of 2015 and later, as people write it.
        const parents = ["one", "two"];
        const byName = new Map(parents.map((name, index) => [name, `PROXY ${name}.test:${8080 + index}`]));
        let find = (host, fallback = "DIRECT") => byName.get(host.split(".")[0]) ?? fallback;
        class Rule { #suffix; constructor(suffix) { this.#suffix = suffix; } fits(host) { return host.endsWith(this.#suffix); } }
        function FindProxyForURL(url, host) {
            alert(`asked for ${host}`);
            for (const name of parents) if (host.startsWith(name)) return find(host);
            if (new Rule(".corp.test").fits(host)) return "PROXY corp:1";
            const {length} = [...host];
            return length > 20 || host.includes("x") ? "SOCKS5 s:1" : find(host);
        }
        """

    @Test(.enabled(if: Engine.javaScriptCore.isInstalled, "libjavascriptcoregtk-4.1-0 is not installed"))
    func `a script of today's JavaScript runs`() throws {
        let hosts = ["one.test", "two.test", "a.corp.test", "x.test", "a.test"]
        let found = try lines(Self.modern, .javaScriptCore, hosts.map { "https://\($0):443/ \($0)" })
        #expect(
            found == [
                "+", "+PROXY one.test:8080", "+PROXY two.test:8081", "+PROXY corp:1", "+SOCKS5 s:1", "+DIRECT",
            ])
        let broken = try lines("var x = 1;\nlet y = ;\n", .javaScriptCore)
        #expect(broken.count == 1 && broken[0].hasPrefix("-line 2: SyntaxError"), "\(broken)")
        let own = "let alert = (text) => text; const isInNet = () => true, myIpAddress = () => 'mine';\n"
        let shadowed = try lines(own + "const FindProxyForURL = () => alert(myIpAddress());", .javaScriptCore)
        #expect(shadowed == ["+", "+mine"])
        let arrow = try lines("const FindProxyForURL = (url, host) => 'DIRECT';", .javaScriptCore)
        #expect(arrow == ["+", "+DIRECT"])
    }

    @Test(.enabled(if: Engine.pacparser.isInstalled, "libpacparser1 is not installed"))
    func `libpacparser refuses today's JavaScript and names the package that reads it`() throws {
        let found = try lines(Self.modern, .pacparser)
        #expect(found.count == 1 && found[0].hasPrefix("-") && found[0].contains("SyntaxError"), "\(found)")
        #expect(found[0].contains("ES5 only") && found[0].contains("libjavascriptcoregtk-4.1-0"), "\(found)")
    }

    @Test(
        .enabled(if: Engine.javaScriptCore.isInstalled, "libjavascriptcoregtk-4.1-0 is not installed"),
        arguments: [
            "for (var a = [];;) a.push(new Uint8Array(10000000).fill(1));",
            "for (var a = [];;) a.push({x: a.length, y: [1, 2, 3]});", "new Uint8Array(1e9).fill(1);",
            "for (var a = [], i = 0;; i++) { var o = {}; o['p' + i] = 1; a.push(o); }",
            "for (var a = [];;) a.push('x'.repeat(1000000) + a.length);",
        ])
    func `a script that takes all memory ends its process, and says why`(bomb: String) throws {
        let script = "function FindProxyForURL(url, host) { \(bomb) }"
        let found = try lines(script, .javaScriptCore, seconds: 300)
        #expect(found.count == 2 && found[1].hasPrefix("-"), "\(found)")
        #expect(
            found.last?.contains("uses more than 256 MB of memory") == true
                || found.last?.contains("Out of memory") == true, "\(found)")
    }

    @Test(.enabled(if: Engine.javaScriptCore.isInstalled, "libjavascriptcoregtk-4.1-0 is not installed"))
    func `a hostile script gets an error for an answer`() throws {
        for body in [
            "throw {get line() { throw 1; }, toString() { throw 2; }};", "throw {toString: () => 'x\\ny'.repeat(1e5)};",
            "return new Proxy({}, {get() { throw 1; }});", "return Promise.resolve('DIRECT');", "throw null;",
            "throw Symbol.iterator;", "return dnsResolve({toString() { throw 1; }});", "this.f = f; return f();",
            "globalThis.findProxyForURL = 5;",
        ] {
            let script = "function f() { return f() + f(); }\nfunction FindProxyForURL(url, host) { \(body) }"
            let found = try lines(script, .javaScriptCore, Array(repeating: "http://a.test:80/ a.test", count: 2))
            #expect(found.count == 3 && found.dropFirst().allSatisfy { $0.hasPrefix("-") }, "\(body): \(found)")
        }
        let split = try lines(
            "function FindProxyForURL(url, host) { return 'PROXY a:1;\\n+PROXY evil:1'; }", .javaScriptCore)
        #expect(split == ["+", "+PROXY a:1; +PROXY evil:1"])
    }

    @Test(.enabled(if: Engine.javaScriptCore.isInstalled, "libjavascriptcoregtk-4.1-0 is not installed"))
    func `a script finds nothing of the machine`() throws {
        let names = [
            "require", "process", "load", "read", "readFile", "print", "quit", "run", "XMLHttpRequest", "fetch",
            "WebAssembly", "SharedArrayBuffer", "Worker", "importScripts", "$vm",
        ]
        for name in names { #expect(try value("typeof \(name)", .javaScriptCore) == "+undefined", "\(name)") }
    }
}
