// Two threads, each of which calls a member of the C++ library that comes compiled. The argument says which; those
// whose names begin with `holds` have no conflict.
#include <cstring>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>

namespace {

std::string text, other;
std::map<int, int> tree;
std::set<std::string> names;
std::list<int> numbers;
std::unordered_map<std::string, int> table;
std::ostringstream *stream;
std::mutex mutex;
// Uses what was computed, and nothing that threads share.
const struct Sink {
    void operator=(size_t value) const {
        volatile size_t own = value;
        (void)own;
    }
} sink{};
int number;

void nothing() {}
void append() { text.append(" and more, so that it is long"); }
void push_back() { text.push_back('x'); }
void assign() { text = other; }
void copy() { std::string mine = text; sink = mine[2]; }
void compare() { sink = text.compare(other); }
void find() { sink = text.find("xt"); }
void substr() { sink = text.substr(2, 3)[0]; }
void write_character() { text[2] = 'x'; }
void print() { std::cout << text << std::endl; }
void print_characters() { std::cout << text.c_str() << '\n'; }
void into_stream() { *stream << 5 << " and " << 1.5; }
void from_stream() { sink = stream->str().size(); }
void scan() { std::istringstream("5") >> number; }
void read_number() { sink = number; }
void insert() { tree[3] = 4; }
void iterate() { int n = 0; for (auto &entry : tree) n += entry.second; sink = n; }
void erase() { tree.erase(5); }
void insert_name() { names.insert("a name"); }
void iterate_names() { size_t n = 0; for (auto &name : names) n += name.size(); sink = n; }
void push_number() { numbers.push_back(1); }
void iterate_numbers() { int n = 0; for (int it : numbers) n += it; sink = n; }
void hash() { sink = std::hash<std::string>()(text); }
void locked() {
    std::ostringstream mine;
    mine << "mine " << 1.5;
    std::cout << mine.str() << std::endl;
    std::lock_guard<std::mutex> guard(mutex);
    text += mine.str();
    tree[7] = 8;
    names.insert(mine.str());
    numbers.push_back(2);
    table[mine.str()] = 1;
    *stream << text;
}
void read_all() {
    copy(); find(); compare(); substr(); iterate(); iterate_names(); iterate_numbers(); hash(); print();
}

struct Case {
    const char *name;
    void (*one)();
    void (*two)();
};

const Case cases[] = {
    {"append", append, copy}, {"push_back", push_back, find}, {"assign", assign, compare},
    {"compare", compare, write_character}, {"find", find, write_character},
    {"substr", substr, write_character}, {"copy", copy, write_character},
    {"print", print, write_character}, {"print_characters", print_characters, write_character},
    {"append_twice", append, append}, {"stream", into_stream, into_stream},
    {"stream_str", from_stream, into_stream}, {"scan", scan, read_number},
    {"tree", insert, iterate}, {"tree_twice", insert, insert}, {"erase", erase, iterate},
    {"set", insert_name, iterate_names}, {"list", push_number, iterate_numbers},
    {"hash", hash, write_character},
    {"holds_locked", locked, locked}, {"holds_read", read_all, read_all},
    {"holds_print", print, print}, {"holds_nothing", append, nothing},
};

} // namespace

int main(int argc, char **argv) {
    const Case *chosen = nullptr;
    for (auto &it : cases) {
        if (argc < 2) {
            std::cout << it.name << "\n";
        } else if (!std::strcmp(it.name, argv[1])) {
            chosen = &it;
        }
    }
    if (!chosen) {
        return argc >= 2;
    }
    std::ostringstream own;
    stream = &own;
    text = "text of some length, not short";
    other = "other";
    tree = {{1, 2}, {5, 6}, {9, 10}};
    names = {"one", "two"};
    numbers = {1, 2};
    table = {{"one", 1}};
    std::thread thread(chosen->two);
    chosen->one();
    thread.join();
    // What was made for this execution goes with it.
    text = std::string();
    other = std::string();
    tree.clear();
    names.clear();
    numbers.clear();
    table = {};
}
