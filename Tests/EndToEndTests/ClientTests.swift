import Foundation
import Testing

/// Common tools, none of which gets a password.
struct ClientTests {
    @Test func `curl takes http_proxy from the environment`() throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.answering(apache.port) { proxy throws in
            let run = try Finished.run(
                "curl", ["-q", "-sS", "-f", apache.url("/digest/")], environment: ["http_proxy": proxy.address])
            #expect(run.output == "this is digest\n", "\(run)")
        }
    }

    @Test(arguments: ["basic", "steady"])
    func `wget fetches`(name: String) throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        try AttacheProcess.answering(apache.port) { proxy throws in
            let run = try Finished.run(
                "wget", ["--no-config", "-nv", "--tries=1", "-O", "-", apache.url("/\(name)/?\(mark)")],
                environment: ["http_proxy": proxy.address])
            #expect(run.output == "this is \(name)\n", "\(run)")
            #expect(apache.entries(marked: mark, atLeast: 2).last?.userAgent?.hasPrefix("Wget/") == true)
        }
    }

    @Test(arguments: ["basic", "steady"])
    func `busybox wget fetches`(name: String) throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.answering(apache.port) { proxy throws in
            let arguments = ["wget", "-q", "-O", "-", apache.url("/\(name)/")]
            let run = try Finished.run("busybox", arguments, environment: ["http_proxy": proxy.address])
            #expect(run.output == "this is \(name)\n", "\(run)")
        }
    }

    @Test func `apt-get updates and downloads eight packages, pipelined`() throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.answering(apache.port) { proxy throws in
            let mark = ApacheServer.mark()
            let repository = try AptRepository(mark, packages: 8, at: apache, proxy: proxy.address)
            let updated = try repository.update()
            #expect(updated.succeeded, "\(updated)")
            let (downloaded, contents) = try repository.download()
            #expect(downloaded.succeeded, "\(downloaded)")
            #expect(contents == repository.packages.map { "the content of \($0)\n" })
            let fetched = apache.entries(marked: "\(mark)-", atLeast: 8)
            #expect(fetched.filter { $0.status == 200 }.count == 8)
            #expect(fetched.allSatisfy { $0.userAgent?.contains("APT-HTTP") == true })
        }
    }

    @Test func `git clones over plain HTTP`() throws {
        let apache = try ApacheServer.shared()
        let repository = try GitRepository(ApacheServer.mark(), at: apache)
        let folder = Scratch.folder("clone")
        let direct = try GitRepository.git(["clone", "-q", repository.url, "direct"], directory: folder)
        #expect(!direct.succeeded)
        try AttacheProcess.answering(apache.port) { proxy throws in
            let setting = ["-c", "http.proxy=\(proxy.address)"]
            let cloned = try GitRepository.git(setting + ["clone", "-q", repository.url, "copy"], directory: folder)
            #expect(cloned.succeeded, "\(cloned)")
            #expect(Scratch.read(folder + "/copy/file") == GitRepository.text)
        }
    }

    @Test func `pip downloads and installs from an index behind Digest`() throws {
        let apache = try ApacheServer.shared()
        let index = try PythonIndex(ApacheServer.mark(), at: apache)
        let folder = Scratch.folder("pip")
        try AttacheProcess.answering(apache.port) { proxy throws in
            let downloaded = try index.pip(["download", "-d", folder], through: proxy.address)
            #expect(downloaded.succeeded, "\(downloaded)")
            let installed = try index.pip(["install", "--target", folder], through: proxy.address)
            #expect(installed.succeeded, "\(installed)")
            let used = try Finished.run(
                "python3", ["-c", "import \(PythonIndex.module) as m; print(m.VALUE)"], directory: folder)
            #expect(used.output == "42\n", "\(used)")
        }
    }

    @Test(arguments: ["basic", "steady"])
    func `Python's urllib fetches and posts`(name: String) throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        let script = """
            import sys, urllib.request
            print(urllib.request.urlopen(sys.argv[1] + "?" + sys.argv[2]).read().decode(), end="")
            print(urllib.request.urlopen(sys.argv[1] + "upload.cgi?" + sys.argv[2], b"x" * 5000).read().decode(), end="")
            """
        try AttacheProcess.answering(apache.port) { proxy throws in
            let run = try Finished.run(
                "python3", ["-c", script, apache.url("/\(name)/"), mark], environment: ["http_proxy": proxy.address])
            #expect(run.output.hasPrefix("this is \(name)\n5000 "), "\(run)")
            #expect(try Payload.arrivals(at: apache, marked: mark).count == 1)
        }
    }

    @Test func `a client that tunnels sees the origin's own challenge`() throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.answering(apache.port) { proxy throws in
            let answered = try proxy.get(apache.url("/basic/"), "--proxytunnel")
            #expect(answered.status == 401)
            let account = "\(Account.user):\(Account.password)"
            #expect(try proxy.get(apache.url("/digest/"), "--proxytunnel", "--digest", "-u", account).status == 200)
        }
    }
}
