// Reader of JSON graphs in one pass: what plain_graphs.py accepts of texts without escapes, bytes
// beyond ASCII, or numbers of more than 64 bits. Each name, list and number is looked at once.
#include "json_graph.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace memopt {
namespace {

constexpr int DEEPEST = 32;  // lists and objects in each other, of what is skipped
constexpr std::size_t MOST_TENSORS = 4096;
constexpr std::size_t MOST_GROUPS = 256;  // of a search that keeps small_graphs.py's SECONDS
constexpr Bytes HIGHEST = std::numeric_limits<Bytes>::max();

struct Tensor {
    std::string_view name;
    Bytes size;
    bool is_weight;
};

using Names = std::vector<std::string_view>;

struct Node {
    std::string_view name;
    Names inputs, outputs;
    Bytes workspace = 0;
    std::optional<std::int64_t> macs;
};

// Which of the keys that count an object had; one that comes twice is left to Python.
class Keys {
  public:
    void add(unsigned key) {
        if (seen_ >> key & 1) throw Uncovered("a key twice");
        seen_ |= 1U << key;
    }
    bool has(unsigned key) const { return seen_ >> key & 1; }
    void need(unsigned keys) const {
        if ((seen_ & keys) != keys) throw Uncovered("a key is missing");
    }

  private:
    unsigned seen_ = 0;
};

class Reader {
  public:
    Reader(std::string_view text, const Forms& forms) : text_(text), forms_(forms) {}

    std::vector<Tensor> tensors;
    std::vector<Node> nodes;
    Names inputs, outputs;

    void read() {
        Keys keys;
        object([&](std::string_view key) {
            if (key == "tensors") {
                keys.add(0);
                list([&] { add(tensors, tensor(), MOST_TENSORS); });
            } else if (key == "nodes") {
                keys.add(1);
                list([&] { add(nodes, node(), MOST); });
            } else if (key == "graph_inputs") {
                keys.add(2);
                inputs = names();
            } else if (key == "graph_outputs") {
                keys.add(3);
                outputs = names();
            } else {
                skip(0);
            }
        });
        keys.need(0b1111);
        space();
        if (at_ != text_.size()) throw Uncovered("more behind the graph");
    }

  private:
    // Large graphs are not read to their end.
    template <class Entry>
    static void add(std::vector<Entry>& entries, Entry entry, std::size_t most) {
        if (entries.size() == most) throw Uncovered("too many");
        entries.push_back(std::move(entry));
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void space() {
        while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') ++at_;
    }

    bool take(char wanted) {
        space();
        if (peek() != wanted) return false;
        ++at_;
        return true;
    }

    void expect(char wanted) {
        if (!take(wanted)) throw Uncovered("no JSON");
    }

    template <class Action>
    void list(Action action) {
        expect('[');
        if (take(']')) return;
        do action();
        while (take(','));
        expect(']');
    }

    template <class Action>
    void object(Action action) {
        expect('{');
        if (take('}')) return;
        do {
            const std::string_view key = string();
            expect(':');
            action(key);
        } while (take(','));
        expect('}');
    }

    std::string_view string() {
        expect('"');
        const std::size_t begin = at_;
        for (; at_ < text_.size(); ++at_) {
            const auto byte = static_cast<unsigned char>(text_[at_]);
            if (byte == '"') return text_.substr(begin, at_++ - begin);
            if (byte < 0x20 || byte > 0x7e || byte == '\\') break;
        }
        throw Uncovered("a string that is not plain");
    }

    // An integer; nothing for a number with a fraction or an exponent.
    std::optional<std::int64_t> number() {
        space();
        const bool negative = peek() == '-';
        at_ += negative;
        if (peek() == '0' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))
            throw Uncovered("no JSON");
        std::int64_t value = 0;
        bool is_large = false;
        digits([&](int digit) {
            is_large = is_large || value > (HIGHEST - digit) / 10;
            if (!is_large) value = value * 10 + digit;
        });
        bool is_integer = true;
        if (peek() == '.') {
            ++at_;
            is_integer = false;
            digits([](int) {});
        }
        if (peek() == 'e' || peek() == 'E') {
            ++at_;
            is_integer = false;
            if (peek() == '+' || peek() == '-') ++at_;
            digits([](int) {});
        }
        if (!is_integer) return std::nullopt;
        if (is_large) throw Uncovered("a number of more than 64 bits");
        return negative ? -value : value;
    }

    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    template <class Action>
    void digits(Action action) {
        if (!is_digit(peek())) throw Uncovered("no JSON");
        for (; is_digit(peek()); ++at_) action(peek() - '0');
    }

    Bytes size() {
        const auto value = number();
        if (!value || *value < 0 || *value > forms_.most_bytes) throw Uncovered("no size");
        return *value;
    }

    bool word(std::string_view wanted) {
        space();
        if (text_.substr(at_, wanted.size()) != wanted) return false;
        at_ += wanted.size();
        return true;
    }

    bool boolean() {
        if (word("true")) return true;
        if (!word("false")) throw Uncovered("neither true nor false");
        return false;
    }

    // Any value, which counts for nothing.
    void skip(int depth) {
        if (depth > DEEPEST) throw Uncovered("too deep");
        space();
        switch (peek()) {
            case '{':
                return object([&](std::string_view) { skip(depth + 1); });
            case '[':
                return list([&] { skip(depth + 1); });
            default:
                scalar();
        }
    }

    // A string, number, true, false or null; the integer that it is.
    std::optional<std::int64_t> scalar() {
        space();
        if (peek() == '"') return string(), std::nullopt;
        if (word("true") || word("false") || word("null")) return std::nullopt;
        return number();
    }

    Names names() {
        Names result;
        list([&] { result.push_back(string()); });
        return result;
    }

    Tensor tensor() {
        enum { NAME, BYTES, WEIGHT, SHAPE, DTYPE };
        Tensor result{{}, 0, false};
        Keys keys;
        std::optional<Bytes> elements;
        std::optional<Bytes> bits;
        object([&](std::string_view key) {
            if (key == "name") {
                keys.add(NAME);
                result.name = string();
            } else if (key == "bytes") {
                keys.add(BYTES);
                result.size = size();
            } else if (key == "is_weight") {
                keys.add(WEIGHT);
                result.is_weight = boolean();
            } else if (key == "shape") {
                keys.add(SHAPE);
                if (!word("null")) elements = product();
            } else if (key == "dtype") {
                keys.add(DTYPE);
                if (!word("null")) bits = element_bits(string());
            } else {
                other(key);
            }
        });
        keys.need(1U << NAME | 1U << BYTES);
        if (elements && bits) {
            if (*elements > (HIGHEST - 7) / *bits) throw Uncovered("a product that is too large");
            if ((*elements * *bits + 7) / 8 != result.size) throw Uncovered("another size");
        }
        return result;
    }

    Bytes product() {
        Bytes elements = 1;
        std::size_t count = 0;
        list([&] {
            const Bytes dimension = size();
            if (dimension && elements > HIGHEST / dimension)
                throw Uncovered("a product that is too large");
            elements *= dimension;
            ++count;
        });
        if (count > forms_.most_dimensions) throw Uncovered("too many dimensions");
        return elements;
    }

    Bytes element_bits(std::string_view name) const {
        for (const auto& element : forms_.elements)
            if (element.name == name) return element.bits;
        throw Uncovered("an element type that is unknown");
    }

    // A key of tensors or nodes that is not read: captures say more with some.
    void other(std::string_view key) {
        for (std::string_view captured :
             {"storage", "offset", "persistent", "mutates", "after", "may_overwrite"})
            if (key == captured) throw Uncovered("a capture");
        skip(0);
    }

    Node node() {
        enum { NAME, OP, INPUTS, OUTPUTS, WORKSPACE, ATTRS };
        Node result;
        Keys keys;
        object([&](std::string_view key) {
            if (key == "name") {
                keys.add(NAME);
                result.name = string();
            } else if (key == "op") {
                keys.add(OP);
                string();
            } else if (key == "inputs") {
                keys.add(INPUTS);
                result.inputs = names();
            } else if (key == "outputs") {
                keys.add(OUTPUTS);
                result.outputs = names();
            } else if (key == "workspace") {
                keys.add(WORKSPACE);
                workspace(result.workspace);
            } else if (key == "attrs") {
                keys.add(ATTRS);
                Keys known;
                object([&](std::string_view attribute) { attribute_of(result, attribute, known); });
            } else {
                other(key);
            }
        });
        keys.need(1U << NAME | 1U << OP | 1U << INPUTS | 1U << OUTPUTS);
        return result;
    }

    void attribute_of(Node& node, std::string_view key, Keys& known) {
        space();
        if (word("null")) throw Uncovered("an attribute that is null");
        const bool is_macs = key == "macs";
        if (is_macs) known.add(0);
        if (peek() == '{' || peek() == '[') throw Uncovered("an attribute that is no scalar");
        const auto value = scalar();
        if (is_macs) node.macs = value;
    }

    void workspace(Bytes& total) {
        space();
        if (peek() != '[') {
            total = rounded(size());
            return;
        }
        list([&] {
            const Bytes bytes = rounded(size());
            if (bytes > HIGHEST - total) throw Uncovered("sums that are too large");
            total += bytes;
        });
    }

    Bytes rounded(Bytes bytes) const {
        return (bytes + forms_.alignment - 1) / forms_.alignment * forms_.alignment;
    }

    std::string_view text_;
    const Forms& forms_;
    std::size_t at_ = 0;
};

// Names -> numbers, in a table of twice as many places at least.
class Table {
  public:
    explicit Table(std::size_t names) : slots_(std::bit_ceil(2 * names + 2), NONE) {}

    // Throw Uncovered if the name is there.
    void add(std::string_view name) {
        Index& slot = slots_[find(name)];
        if (slot != NONE) throw Uncovered("a name twice");
        slot = static_cast<Index>(names_.size());
        names_.push_back(name);
    }

    Index at(std::string_view name) const {
        const Index index = slots_[find(name)];
        if (index == NONE) throw Uncovered("an unknown name");
        return index;
    }

  private:
    std::size_t find(std::string_view name) const {
        Word hash = 0xcbf29ce484222325ULL;
        for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
        std::size_t at = mix(hash) & (slots_.size() - 1);
        while (slots_[at] != NONE && names_[slots_[at]] != name)
            at = (at + 1) & (slots_.size() - 1);
        return at;
    }

    Indices slots_;
    Names names_;
};

}  // namespace

JsonGraph read_graph(std::string_view text, const Forms& forms) {
    Reader reader(text, forms);
    reader.read();
    if (reader.nodes.empty()) throw Uncovered("no operators");
    Table tensors(reader.tensors.size()), operators(reader.nodes.size());
    for (const Tensor& tensor : reader.tensors) tensors.add(tensor.name);
    JsonGraph result;
    SmallGraph& graph = result.graph;
    std::vector<Index> group(reader.tensors.size(), NONE);  // of each tensor, once it is there
    const auto begin = [&](std::string_view name, Word writers, bool is_input) {
        const Index tensor = tensors.at(name);
        const Tensor& read = reader.tensors[tensor];
        if (read.is_weight || group[tensor] != NONE) throw Uncovered("a weight, or made twice");
        if (read.size > MOST_BYTES) throw Uncovered("too many bytes");
        if (graph.groups.size() == MOST_GROUPS) throw Uncovered("too many tensors");
        group[tensor] = static_cast<Index>(graph.groups.size());
        const Bytes size = (read.size + forms.alignment - 1) / forms.alignment * forms.alignment;
        graph.groups.push_back({size, writers, 0, is_input, false});
    };
    for (std::string_view name : reader.inputs) begin(name, 0, true);
    for (std::size_t v = 0; v < reader.nodes.size(); ++v) {
        const Node& node = reader.nodes[v];
        operators.add(node.name);
        const bool is_named_after = node.outputs.size() == 1 && node.outputs[0] == node.name;
        if (node.name.empty() || node.outputs.empty() || is_named_after)
            throw Uncovered("a title that says what it makes");
        Indices& before = graph.predecessors.emplace_back();
        bool reads = false;
        for (std::string_view name : node.inputs) {
            const Index tensor = tensors.at(name);
            if (Tensor& weight = reader.tensors[tensor]; weight.is_weight) {
                if (weight.size > HIGHEST - result.weights) throw Uncovered("large weights");
                result.weights += std::exchange(weight.size, 0);
                continue;
            }
            if (group[tensor] == NONE) throw Uncovered("read before it is made");
            Tensors& read = graph.groups[group[tensor]];
            reads = true;
            read.readers |= one(v);
            if (!read.writers) continue;
            const auto maker = static_cast<Index>(std::countr_zero(read.writers));
            if (std::find(before.begin(), before.end(), maker) == before.end())
                before.push_back(maker);
        }
        if (!reads) throw Uncovered("a constant expression");
        for (std::string_view name : node.outputs) begin(name, one(v), false);
        graph.extra.push_back(node.workspace);
        result.names.push_back(node.name);
        if (!node.macs) continue;
        const std::int64_t sum = result.macs.value_or(0), more = *node.macs;
        if (more < 0 || sum > HIGHEST - more) throw Uncovered("multiplications");
        result.macs = sum + more;
    }
    if (reader.outputs.empty()) throw Uncovered("no output");
    for (std::string_view name : reader.outputs) {
        const Index tensor = tensors.at(name);
        if (group[tensor] == NONE) throw Uncovered("an output that nobody makes");
        Tensors& end = graph.groups[group[tensor]];
        if (end.is_output) throw Uncovered("an output twice");
        end.is_output = true;
    }
    return result;
}

}  // namespace memopt
