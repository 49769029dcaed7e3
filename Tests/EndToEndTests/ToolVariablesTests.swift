import Foundation
import Testing

/// Tools that know nothing but the variables of `attache env`, at an origin that asks for Basic and Digest behind TLS.
struct ToolVariablesTests {
    private static let rules = """
        credential web { user \(Account.user); password file @/password }
        challenge { host \(ApacheServer.secureHost); secure yes; use web }

        """

    /// Lines of shell behind the variables; `$ORIGIN` is the server.
    private func run(_ lines: String) throws -> Finished {
        let origin = "https://\(ApacheServer.secureHost):\(try ApacheServer.shared().securePorts.three)"
        var run: Finished?
        try AttacheProcess.visitingZoo(Self.rules) { proxy throws in
            let variables = try Finished.run(
                AttacheBinary.path, ["env", "--config", proxy.folder + "/proxy.conf"],
                environment: ["SSL_CERT_FILE": try Hierarchy.shared().root.certificate])
            #expect(variables.succeeded, "\(variables)")
            try Scratch.write(variables.output, to: proxy.folder + "/env.sh")
            run = try Finished.run(
                "sh", ["-c", ". \(proxy.folder)/env.sh\n\(lines)"], environment: ["ORIGIN": origin],
                directory: Scratch.folder("tools"))
        }
        return try #require(run)
    }

    @Test(arguments: [
        "curl -q -sS $ORIGIN/digest/",
        "wget -q -O - --no-config --ca-certificate=\"$SSL_CERT_FILE\" $ORIGIN/digest/",
        "python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode(), end=\"\")' "
            + "$ORIGIN/digest/",
    ])
    func `a tool reaches the server`(command: String) throws {
        let run = try run(command)
        #expect(run.output == "this is digest\n", "\(run)")
    }

    @Test func `git clones`() throws {
        let name = ApacheServer.mark()
        _ = try GitRepository(name, at: ApacheServer.shared())
        let run = try run("git clone -q $ORIGIN/git/\(name) copy && cat copy/file")
        #expect(run.output == GitRepository.text, "\(run)")
    }

    @Test func `pip downloads`() throws {
        let name = ApacheServer.mark()
        _ = try PythonIndex(name, at: ApacheServer.shared())
        let run = try run(
            """
            python3 -m pip download -q -d here --disable-pip-version-check --no-cache-dir --no-input --no-deps \
                --index-url $ORIGIN/pip/\(name)/ attache-sample && ls here | wc -l
            """)
        #expect(run.output == "1\n", "\(run)")
    }

    @Test(.enabled(if: isInstalled("java") && isInstalled("javac")))
    func `Java fetches`() throws {
        let run = try run(
            """
            cat > Fetch.java <<'END'
            public class Fetch {
                public static void main(String[] urls) throws Exception {
                    for (String url : urls) System.out.print(new String(
                        new java.net.URL(url).openConnection().getInputStream().readAllBytes()));
                }
            }
            END
            java Fetch.java $ORIGIN/basic/ $ORIGIN/digest/
            """)
        #expect(run.output == "this is basic\nthis is digest\n", "\(run)")
    }

    @Test(.enabled(if: isInstalled("npm")))
    func `npm installs`() throws {
        let package = try NodePackage(ApacheServer.mark(), at: ApacheServer.shared())
        let run = try run(
            """
            npm install --silent --globalconfig "$PWD/none" --fetch-retries 0 --no-audit --no-fund \
                --no-update-notifier --cache "$PWD/cache" \
                $ORIGIN\(package.path) && cat node_modules/attache-sample/index.js
            """)
        #expect(run.output.hasSuffix(NodePackage.text), "\(run)")
    }

    @Test(.enabled(if: isInstalled("go")))
    func `Go fetches`() throws {
        let run = try run(
            """
            cat > fetch.go <<'END'
            package main

            import (
            \t"fmt"
            \t"io"
            \t"net/http"
            \t"os"
            )

            func main() {
            \tfor _, url := range os.Args[1:] {
            \t\tresponse, err := http.Get(url)
            \t\tif err != nil {
            \t\t\tfmt.Println(err)
            \t\t\tos.Exit(1)
            \t\t}
            \t\ttext, _ := io.ReadAll(response.Body)
            \t\tfmt.Print(string(text))
            \t}
            }
            END
            GO111MODULE=off GOCACHE="$PWD/cache" go run fetch.go $ORIGIN/basic/ $ORIGIN/digest/
            """)
        #expect(run.output == "this is basic\nthis is digest\n", "\(run)")
    }

    private static func isInstalled(_ name: String) -> Bool { (try? Spawn.executable(name)) != nil }
}
