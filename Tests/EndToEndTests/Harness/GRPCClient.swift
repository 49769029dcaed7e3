import Foundation
import TestSupport

/// Clients of gRPC in five languages, by the libraries in C, Go and Java. Each makes the calls of its command line, one after
/// the other, and prints `OK` with the answer, or the code with the reason.
///
/// A word is a unary call with that text, or a kind of call with its text or number: `trailer:TEXT` prints a trailer too,
/// `large:BYTES` sends that much, `within:TEXT` has one second; `many:N` reads a stream, `sum:N` writes one, `talk:N` does
/// both in turns, and `cancel:N` cancels such a call then.
enum GRPCClient: CaseIterable {
    case python, go, java, cpp, ruby

    private static let goSources = "/usr/share/gocode/src/google.golang.org/grpc"
    private static let javaArchives = """
        grpc-api grpc-core grpc-context grpc-netty guava perfmark-api netty-tcnative netty-buffer netty-codec netty-codec-http
        netty-codec-http2 netty-codec-socks netty-common netty-handler netty-handler-proxy netty-resolver netty-transport
        netty-transport-native-unix-common
        """
    private static let javaPath = javaArchives.split { $0 == " " || $0 == "\n" }.map { "/usr/share/java/\($0).jar" }

    /// The library by which Netty agrees on HTTP/2. Debian's Netty cannot by Java's own TLS.
    private static let javaTLS = try? Finished.run("sh", ["-c", "ls /usr/lib/*/jni/libnetty-tcnative.so"]).output
        .split(separator: "\n").first.map(String.init)

    private static let hasRuby = (try? Finished.run("ruby", ["-rgrpc", "-e", ""]))?.succeeded ?? false

    var isInstalled: Bool {
        switch self {
        case .python: true
        case .go: access(Self.goSources, R_OK) == 0 && Self.isInstalled("go")
        case .java:
            Self.javaTLS != nil && Self.isInstalled("javac") && Self.javaPath.allSatisfy { access($0, R_OK) == 0 }
        case .cpp: access("/usr/include/grpcpp/grpcpp.h", R_OK) == 0 && Self.isInstalled("g++")
        case .ruby: Self.hasRuby
        }
    }

    private static func isInstalled(_ name: String) -> Bool { (try? Spawn.executable(name)) != nil }

    /// Calls the server through the proxy.
    func call(_ authority: String, through proxy: AttacheProcess, _ words: [String]) throws -> [String] {
        let command = try command(through: proxy) + [authority, try proxy.exportedAuthority()] + words
        let environment = try PythonPackages.grpcEnvironment().merging([
            "https_proxy": proxy.address, "GRPC_VERBOSITY": "ERROR",
        ]) { $1 }
        let run = try Finished.run(
            command[0], Array(command.dropFirst()), environment: environment, seconds: 120)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        return run.output.split(separator: "\n").map(String.init)
    }

    private func command(through proxy: AttacheProcess) throws -> [String] {
        switch self {
        case .python: return ["python3", "-c", Self.pythonSource]
        case .ruby: return ["ruby", "-e", Self.rubySource, "--"]
        case .go: return [try Self.goProgram.get()]
        case .cpp: return [try Self.cppProgram.get()]
        case .java:
            let folder = try Self.javaProgram.get()
            let way = ["-Dhttps.proxyHost=127.0.0.1", "-Dhttps.proxyPort=\(proxy.port)"]
            return ["java", "-Djava.library.path=\(folder)"] + way + ["-cp", Self.path(with: folder), "Calls"]
        }
    }

    private static func path(with folder: String) -> String { ([folder] + javaPath).joined(separator: ":") }

    // Each program is built once for a run, from the packages of the distribution.

    private static let goProgram = Result {
        let environment = ["GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": ""]
        return try built(goSource, "main.go", "GOCACHE=$PWD/cache go build -o client main.go", environment) + "/client"
    }

    private static let cppProgram = Result {
        let command = "g++ -std=c++17 client.cpp -o client $(pkg-config --cflags --libs grpc++)"
        return try built(cppSource, "client.cpp", command) + "/client"
    }

    /// The folder with the classes, and with the library under the name that Netty looks for.
    private static let javaProgram = Result {
        let command = "javac -cp \(path(with: ".")) Calls.java && cp \(javaTLS ?? "") libnetty_tcnative.so"
        return try built(javaSource, "Calls.java", command)
    }

    private static func built(
        _ source: String, _ name: String, _ command: String, _ environment: [String: String] = [:]
    ) throws -> String {
        let folder = Scratch.folder("grpc-client")
        try Scratch.write(source, to: "\(folder)/\(name)")
        let run = try Finished.run("sh", ["-c", command], environment: environment, directory: folder, seconds: 600)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        return folder
    }
}

extension GRPCClient {
    fileprivate static let pythonSource = """
        import grpc, queue, sys
        target, authority, *words = sys.argv[1:]
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(open(authority, 'rb').read()))
        def run(kind, argument):
            limit = 1 if kind == 'within' else 60
            if kind == 'many':
                answers = list(channel.unary_stream('/test/Many')(argument.encode(), timeout=limit))
                return f'{len(answers)} {answers[-1].decode()}'
            if kind == 'sum':
                numbers = (b'%d' % n for n in range(int(argument)))
                return channel.stream_unary('/test/Sum')(numbers, timeout=limit).decode()
            if kind in ('talk', 'cancel'):
                # Each message waits for the answer to the one before.
                sent, answers = queue.Queue(), []
                talk = channel.stream_stream('/test/Talk')(iter(sent.get, None), timeout=limit)
                for n in range(int(argument)):
                    sent.put(b'm%d' % n)
                    answers.append(next(talk))
                if kind == 'cancel':
                    talk.cancel()
                sent.put(None)
                answers += talk
                return f'{len(answers)} {answers[-1].decode()}'
            text = b'x' * int(argument) if kind == 'large' else argument.encode()
            answer, call = channel.unary_unary('/test/Unary').with_call(text, timeout=limit)
            return answer.decode() + (' ' + dict(call.trailing_metadata())['x-trailer'] if kind == 'trailer' else '')
        for word in words:
            kind, _, argument = word.rpartition(':')
            try:
                print('OK', run(kind, argument))
            except grpc.RpcError as error:
                print(error.code().value[0], error.details())
        """

    fileprivate static let rubySource = """
        require 'grpc'
        target, authority, *words = ARGV
        @stub = GRPC::ClientStub.new(target, GRPC::Core::ChannelCredentials.new(File.read(authority)))
        PLAIN = :itself.to_proc

        def run(kind, argument)
          options = { deadline: Time.now + (kind == 'within' ? 1 : 60), return_op: true }
          case kind
          when 'many'
            answers = @stub.server_streamer('/test/Many', argument, PLAIN, PLAIN, **options).execute.to_a
            "#{answers.size} #{answers.last}"
          when 'sum'
            numbers = argument.to_i.times.map(&:to_s)
            @stub.client_streamer('/test/Sum', numbers, PLAIN, PLAIN, **options).execute
          when 'talk', 'cancel'
            # Each message waits for the answer to the one before.
            answers, answered = [], Queue.new
            numbers = Enumerator.new do |sent|
              argument.to_i.times { |n| sent << "m#{n}"; answered.pop }
            end
            call = @stub.bidi_streamer('/test/Talk', numbers, PLAIN, PLAIN, **options)
            call.execute.each do |answer|
              answers << answer
              call.cancel if kind == 'cancel' && answers.size == argument.to_i
              answered << true
            end
            "#{answers.size} #{answers.last}"
          else
            text = kind == 'large' ? 'x' * argument.to_i : argument
            call = @stub.request_response('/test/Unary', text, PLAIN, PLAIN, **options)
            answer = call.execute
            kind == 'trailer' ? "#{answer} #{call.trailing_metadata['x-trailer']}" : answer
          end
        end

        words.each do |word|
          kind, _, argument = word.rpartition(':')
          puts "OK #{run(kind, argument)}"
        rescue GRPC::BadStatus => error
          puts "#{error.code} #{error.details}"
        end
        """

    fileprivate static let goSource = """
        package main

        import (
        	"context"
        	"crypto/tls"
        	"crypto/x509"
        	"fmt"
        	"os"
        	"strconv"
        	"strings"
        	"time"

        	"google.golang.org/grpc"
        	"google.golang.org/grpc/credentials"
        	"google.golang.org/grpc/metadata"
        	"google.golang.org/grpc/status"
        )

        type raw struct{}

        func (raw) Marshal(v interface{}) ([]byte, error) { return []byte(*(v.(*string))), nil }
        func (raw) Unmarshal(data []byte, v interface{}) error {
        	*(v.(*string)) = string(data)
        	return nil
        }
        func (raw) Name() string { return "raw" }

        func main() {
        	authority, err := os.ReadFile(os.Args[2])
        	if err != nil {
        		panic(err)
        	}
        	roots := x509.NewCertPool()
        	roots.AppendCertsFromPEM(authority)
        	secure := grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots}))
        	connection, err := grpc.Dial(os.Args[1], secure)
        	if err != nil {
        		panic(err)
        	}
        	for _, word := range os.Args[3:] {
        		kind, argument := "unary", word
        		if place := strings.Index(word, ":"); place >= 0 {
        			kind, argument = word[:place], word[place+1:]
        		}
        		if line, err := call(connection, kind, argument); err == nil {
        			fmt.Println("OK", line)
        		} else {
        			fmt.Println(int(status.Code(err)), status.Convert(err).Message())
        		}
        	}
        }

        func call(connection *grpc.ClientConn, kind, argument string) (string, error) {
        	limit := time.Minute
        	if kind == "within" {
        		limit = time.Second
        	}
        	ctx, cancel := context.WithTimeout(context.Background(), limit)
        	defer cancel()
        	count, _ := strconv.Atoi(argument)
        	path := map[string]string{"many": "Many", "sum": "Sum", "talk": "Talk", "cancel": "Talk"}[kind]
        	if path == "" {
        		if kind == "large" {
        			argument = strings.Repeat("x", count)
        		}
        		var answer string
        		var trailer metadata.MD
        		err := connection.Invoke(
        			ctx, "/test/Unary", &argument, &answer, grpc.ForceCodec(raw{}), grpc.Trailer(&trailer))
        		if kind == "trailer" && err == nil {
        			answer += " " + strings.Join(trailer.Get("x-trailer"), "")
        		}
        		return answer, err
        	}
        	stream, err := connection.NewStream(
        		ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/test/"+path, grpc.ForceCodec(raw{}))
        	if err != nil {
        		return "", err
        	}
        	answers, last := 0, ""
        	receive := func() error {
        		err := stream.RecvMsg(&last)
        		if err == nil {
        			answers++
        		}
        		return err
        	}
        	switch kind {
        	case "sum":
        		for n := 0; n < count && err == nil; n++ {
        			text := strconv.Itoa(n)
        			err = stream.SendMsg(&text)
        		}
        	case "talk":
        		// Each message waits for the answer to the one before.
        		for n := 0; n < count && err == nil; n++ {
        			text := "m" + strconv.Itoa(n)
        			if err = stream.SendMsg(&text); err == nil {
        				err = receive()
        			}
        		}
        	default:
        		err = stream.SendMsg(&argument)
        	}
        	if kind == "cancel" && err == nil {
        		err = receive()
        		cancel()
        	}
        	stream.CloseSend()
        	for err == nil {
        		err = receive()
        	}
        	if err.Error() != "EOF" {
        		return "", err
        	}
        	if kind == "sum" {
        		return last, nil
        	}
        	return fmt.Sprint(answers, " ", last), nil
        }
        """

    fileprivate static let javaSource = """
        import io.grpc.*;
        import io.grpc.MethodDescriptor.*;
        import io.grpc.netty.*;
        import java.io.*;
        import java.util.*;
        import java.util.concurrent.*;

        public class Calls {
            static class Text implements Marshaller<String> {
                public InputStream stream(String text) { return new ByteArrayInputStream(text.getBytes()); }
                public String parse(InputStream stream) {
                    return new Scanner(stream).useDelimiter("\\\\A").next();
                }
            }

            /** Its queue gets the messages, and at the end the status. */
            static class Answers extends ClientCall.Listener<String> {
                final BlockingQueue<Object> queue = new LinkedBlockingQueue<>();
                volatile Metadata trailers;
                int count;
                Object last;

                @Override public void onMessage(String message) { queue.add(message); }
                @Override public void onClose(Status status, Metadata trailers) {
                    this.trailers = trailers;
                    queue.add(status);
                }
                /** Takes the next one. Returns the status, or null. */
                Status next() throws InterruptedException {
                    Object next = queue.take();
                    if (next instanceof Status) return (Status) next;
                    count++;
                    last = next;
                    return null;
                }
            }

            public static void main(String[] words) throws Exception {
                var secure = GrpcSslContexts.forClient().trustManager(new File(words[1])).build();
                var channel = NettyChannelBuilder.forTarget(words[0]).sslContext(secure).build();
                for (String word : Arrays.asList(words).subList(2, words.length)) {
                    int colon = word.indexOf(':');
                    String kind = colon < 0 ? "unary" : word.substring(0, colon), argument = word.substring(colon + 1);
                    var type = switch (kind) {
                        case "many" -> MethodType.SERVER_STREAMING;
                        case "sum" -> MethodType.CLIENT_STREAMING;
                        case "talk", "cancel" -> MethodType.BIDI_STREAMING;
                        default -> MethodType.UNARY;
                    };
                    var names = Map.of("many", "Many", "sum", "Sum", "talk", "Talk", "cancel", "Talk");
                    var name = names.getOrDefault(kind, "Unary");
                    var method = MethodDescriptor.newBuilder(new Text(), new Text()).setType(type)
                        .setFullMethodName("test/" + name).build();
                    var limit = CallOptions.DEFAULT.withDeadlineAfter(kind.equals("within") ? 1 : 60, TimeUnit.SECONDS);
                    var call = channel.newCall(method, limit);
                    var answers = new Answers();
                    call.start(answers, new Metadata());
                    call.request(1_000_000);
                    Status status = null;
                    switch (type) {
                        case BIDI_STREAMING:
                            // Each message waits for the answer to the one before.
                            for (int n = 0; n < Integer.parseInt(argument) && status == null; n++) {
                                call.sendMessage("m" + n);
                                status = answers.next();
                            }
                            if (kind.equals("cancel")) call.cancel("cancelled", null);
                            break;
                        case CLIENT_STREAMING:
                            for (int n = 0; n < Integer.parseInt(argument); n++) call.sendMessage("" + n);
                            break;
                        default: call.sendMessage(kind.equals("large") ? "x".repeat(Integer.parseInt(argument)) : argument);
                    }
                    if (!kind.equals("cancel")) call.halfClose();
                    while (status == null) status = answers.next();
                    var line = status.getCode().value() + " " + status.getDescription();
                    if (status.isOk()) {
                        line = "OK " + (name.equals("Many") || name.equals("Talk") ? answers.count + " " : "") + answers.last;
                        var key = Metadata.Key.of("x-trailer", Metadata.ASCII_STRING_MARSHALLER);
                        if (kind.equals("trailer")) line += " " + answers.trailers.get(key);
                    }
                    System.out.println(line);
                }
                channel.shutdownNow();
            }
        }
        """

    fileprivate static let cppSource = """
        #include <grpcpp/generic/generic_stub.h>
        #include <grpcpp/grpcpp.h>
        #include <chrono>
        #include <fstream>
        #include <iostream>
        #include <sstream>

        static grpc::ByteBuffer message(const std::string& text) {
            grpc::Slice slice(text);
            return grpc::ByteBuffer(&slice, 1);
        }

        static std::string text(const grpc::ByteBuffer& message) {
            std::vector<grpc::Slice> slices;
            message.Dump(&slices);
            std::string all;
            for (auto& slice : slices) all.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
            return all;
        }

        int main(int count, char** words) {
            std::stringstream roots;
            roots << std::ifstream(words[2]).rdbuf();
            grpc::SslCredentialsOptions options;
            options.pem_root_certs = roots.str();
            grpc::GenericStub stub(grpc::CreateChannel(words[1], grpc::SslCredentials(options)));
            grpc::CompletionQueue queue;
            // Waits for the step that was begun.
            auto done = [&queue] {
                void* tag;
                bool isGood;
                return queue.Next(&tag, &isGood) && isGood;
            };
            for (int place = 3; place < count; place++) {
                std::string word = words[place], argument = word.substr(word.find(':') + 1);
                std::string kind = word.substr(0, word.size() - argument.size());
                bool talks = kind == "talk:" || kind == "cancel:";
                grpc::ClientContext context;
                context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(kind == "within:" ? 1 : 60));
                std::string name = kind == "many:" ? "Many" : kind == "sum:" ? "Sum" : talks ? "Talk" : "Unary";
                auto call = stub.PrepareCall(&context, "/test/" + name, &queue);
                call->StartCall(nullptr);
                bool isGood = done();
                auto write = [&](const std::string& content) {
                    if (!isGood) return;
                    call->Write(message(content), nullptr);
                    isGood = done();
                };
                std::vector<std::string> answers;
                auto read = [&] {
                    grpc::ByteBuffer buffer;
                    call->Read(&buffer, nullptr);
                    if (!done()) return false;
                    answers.push_back(text(buffer));
                    return true;
                };
                if (talks) {
                    // Each message waits for the answer to the one before.
                    for (int n = 0; n < std::stoi(argument) && isGood; n++) {
                        write("m" + std::to_string(n));
                        isGood = isGood && read();
                    }
                    if (kind == "cancel:") context.TryCancel();
                } else if (kind == "sum:") {
                    for (int n = 0; n < std::stoi(argument); n++) write(std::to_string(n));
                } else {
                    write(kind == "large:" ? std::string(std::stoi(argument), 'x') : argument);
                }
                if (isGood) {
                    call->WritesDone(nullptr);
                    done();
                }
                while (read()) {}
                grpc::Status status;
                call->Finish(&status, nullptr);
                done();
                if (!status.ok()) {
                    std::cout << status.error_code() << " " << status.error_message() << std::endl;
                    continue;
                }
                std::cout << "OK ";
                if (kind == "many:" || talks) std::cout << answers.size() << " ";
                std::cout << answers.back();
                if (kind == "trailer:") {
                    for (auto& trailer : context.GetServerTrailingMetadata())
                        if (trailer.first == "x-trailer") std::cout << " " << trailer.second;
                }
                std::cout << std::endl;
            }
        }
        """
}
