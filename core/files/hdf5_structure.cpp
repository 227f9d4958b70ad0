#include "core/files/hdf5_structure.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/files/file_seal.h"
#include "core/files/hdf5_piece.h"

namespace weft::core {
namespace {

using hdf5::check;
using hdf5::Piece;
using hdf5::refuse;
using hdf5::Size;
using hdf5::undefined;

constexpr int deepest = 8;

Size padded(Size size) { return (size + 7) / 8 * 8; }

int open_again_if_interrupted(const std::filesystem::path& path) {
  while (true) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0 || errno != EINTR) return file;
  }
}

/// The type of elements: its bytes, and whether it is a text of any length.
struct Type {
  Size bytes = 0;
  bool is_text = false;
};

class Structure {
 public:
  explicit Structure(const std::filesystem::path& path) : file_(open_again_if_interrupted(path)) {
    struct stat facts {};
    if (file_ < 0 || ::fstat(file_, &facts) != 0)
      throw Unreadable(Fault::checkpoint,
                       "cannot read " + path.string() + ": " + explain_errno(errno));
    check(S_ISREG(facts.st_mode), "it is no file");
    size_ = Size(facts.st_size);
  }
  ~Structure() {
    if (file_ >= 0) ::close(file_);
  }
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;

  void check_all() {
    Piece block = piece(0, 96);
    check(block.text(8) == "\x89HDF\r\n\x1a\n", "it does not begin as HDF5");
    block.expect(4, 0, "its version is another");
    block.expect(1, 0, "its version is another");
    block.expect(2, 0x0808, "addresses have another width");
    block.skip(1);
    leaf_ = block.number(2), node_ = block.number(2);
    check(leaf_ >= 1 && leaf_ <= 1024 && node_ >= 1 && node_ <= 1024, "its groups are too wide");
    block.skip(4);
    block.expect(8, 0, "it does not begin at its first byte");
    block.expect(8, undefined, "it lists free space");
    end_ = block.number(8);
    check(end_ >= 96 && end_ <= size_, "it is cut off");
    block.expect(8, undefined, "it needs a driver");
    check_link(block, 0, nullptr);
  }

 private:
  Piece piece(Size at, Size count) {
    check(at <= size_ && count <= size_ - at, "a part lies outside of the file");
    std::string bytes(count, '\0');
    Size got = 0;
    while (got < count) {
      const ssize_t n = ::pread(file_, bytes.data() + got, count - got, off_t(at + got));
      if (n < 0 && errno == EINTR) continue;
      check(n > 0, "a part cannot be read");
      got += Size(n);
    }
    return Piece(std::move(bytes));
  }

  /// A part of the file that belongs to one object alone, which bounds the work on all of them.
  Piece own_piece(Size at, Size count) {
    check(count <= size_ - used_, "it claims more than it has room for");
    used_ += count;
    return piece(at, count);
  }

  /// An entry of a group, of 40 bytes; `names` are those of the group, none for the root.
  void check_link(Piece& entry, int depth, const std::string* names) {
    const Size name = entry.number(8), object = entry.number(8), cached = entry.number(4);
    entry.skip(4);
    const Size tree = entry.number(8), heap = entry.number(8);
    check(cached <= 1, "it has a link that is not to an object of its own");
    if (names)
      check(name < names->size() && names->find('\0', name) != std::string::npos &&
                (*names)[name] != '\0',
            "a name lies outside of its list");
    check(objects_.insert(object).second, "an object is linked twice");
    const auto [own_tree, own_heap] = check_object(object, depth);
    if (cached == 1) check(tree == own_tree && heap == own_heap, "a group contradicts itself");
  }

  struct Members {
    Size tree = undefined, heap = undefined;
  };

  /// What the messages of an object say.
  struct Object {
    Members members;
    Type type;
    Size elements = 0, bytes = 0, address = undefined;
    bool has_type = false, has_space = false, has_layout = false;
  };

  Members check_object(Size at, int depth) {
    check(depth <= deepest, "its groups nest too deep");
    Piece header = own_piece(at, 16);
    header.expect(1, 1, "an object has another version");
    header.skip(1);
    Size messages = header.number(2);
    header.expect(4, 1, "an object is linked more than once");
    std::vector<std::pair<Size, Size>> blocks{{at + 16, header.number(4)}};
    Object object;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Piece block = own_piece(blocks[i].first, blocks[i].second);
      for (; messages > 0 && block.left() >= 8; --messages) check_message(block, object, blocks);
      check(block.left() < 8, "an object has more messages than it says");
    }
    check(messages == 0, "an object has fewer messages than it says");
    if (object.members.tree != undefined) {
      check(!object.has_layout && !object.has_space, "a group has numbers");
      check_members(object.members, depth);
    } else {
      check_numbers(object);
    }
    return object.members;
  }

  void check_message(Piece& block, Object& object, std::vector<std::pair<Size, Size>>& blocks) {
    const Size kind = block.number(2), size = block.number(2), flags = block.number(1);
    block.skip(3);
    check(size % 8 == 0, "a message has an odd size");
    check((flags & ~Size(1)) == 0, "it shares messages");
    Piece message = block.part(size);
    switch (kind) {
      case 0x00:  // nothing
        return;
      case 0x01:
        check(!object.has_space, "an array has two shapes");
        object.has_space = true;
        object.elements = elements_of(message);
        return;
      case 0x03:
        check(!object.has_type, "an array has two types");
        object.has_type = true;
        object.type = type_of(message);
        return;
      case 0x05:
        return check_fill(message);
      case 0x08:
        check(!object.has_layout, "an array has two places");
        object.has_layout = true;
        message.expect(2, 0x0103, "an array is stored in pieces");
        object.address = message.number(8);
        object.bytes = message.number(8);
        return;
      case 0x0c:
        return check_attribute(message);
      case 0x10: {
        const Size at = message.number(8);
        blocks.emplace_back(at, message.number(8));
        return;
      }
      case 0x11:
        check(object.members.tree == undefined, "a group has two lists");
        object.members = {message.number(8), message.number(8)};
        check(object.members.tree != undefined, "a group has no list");
        return;
      default:
        refuse(message_of("it has messages of kind ", kind));
    }
  }

  void check_numbers(const Object& object) {
    check(object.has_type && object.has_space && object.has_layout, "an object is incomplete");
    check(!object.type.is_text, "an array holds texts");
    Size bytes = 0;
    check(!__builtin_mul_overflow(object.elements, object.type.bytes, &bytes) &&
              bytes == object.bytes,
          "an array's shape contradicts its size");
    if (bytes == 0) return;
    check(object.address < end_ && bytes <= end_ - object.address, "an array is cut off");
    check(bytes <= size_ - used_, "its arrays claim more than it has room for");
    used_ += bytes;
  }

  static Size elements_of(Piece& message) {
    message.expect(1, 1, "a shape has another version");
    const Size rank = message.number(1), flags = message.number(1);
    message.skip(5);
    check(rank <= 32 && flags <= 1, "a shape has too many axes");
    Size elements = 1;
    bool empty = false;
    for (Size axis = 0; axis < rank; ++axis) {
      const Size extent = message.number(8);
      empty = empty || extent == 0;
      check(extent == 0 || !__builtin_mul_overflow(elements, extent, &elements),
            "a shape has more elements than can be counted");
    }
    if (flags == 1) message.skip(8 * rank);
    return empty ? 0 : elements;
  }

  static Type type_of(Piece& message) {
    const Size kind = message.number(1), bits = message.number(3), bytes = message.number(4);
    check(kind >> 4 == 1, "a type has another version");
    switch (kind & 15) {
      case 0:
        check(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8, "integers have another width");
        check((bits & 7) == 0, "integers are stored in another order");
        message.expect(4, 8 * bytes << 16, "integers have another precision");
        return {bytes, false};
      case 1:
        check(bytes == 4 || bytes == 8, "numbers have another width");
        check((bits & 0x41) == 0, "numbers are stored in another order");
        message.expect(4, 8 * bytes << 16, "numbers have another precision");
        message.expect(8, bytes == 4 ? 0x7f17000817 : 0x3ff34000b34, "numbers have another form");
        return {bytes, false};
      case 9:
        check((bits & 15) == 1 && bytes == 16, "it has lists of other things than letters");
        message.expect(1, 0x10, "texts are made of other things than letters");
        message.skip(3);
        message.expect(4, 1, "letters have another width");
        return {bytes, true};
      default:
        refuse("it has things other than numbers and texts");
    }
  }

  static void check_fill(Piece& message) {
    check(message.number(1) <= 3, "a fill value has another version");
    message.skip(2);
    if (message.number(1) != 0 && message.left() >= 4)
      message.expect(4, 0, "an array has a fill value");
  }

  void check_attribute(Piece& message) {
    message.expect(2, 1, "an attribute has another version");
    const Size name = message.number(2), type_size = message.number(2);
    const Size space_size = message.number(2);
    const std::string_view letters = message.text(padded(name)).substr(0, name);
    check(name >= 2 && letters.find('\0') == name - 1, "an attribute's name has no end");
    Piece described = message.part(padded(type_size)), extent = message.part(padded(space_size));
    const Type type = type_of(described);
    check(elements_of(extent) == 1, "an attribute is not a single value");
    if (!type.is_text) return message.skip(type.bytes);
    const Size length = message.number(4), heap = message.number(8), index = message.number(4);
    check_text(length, heap, index);
  }

  /// A text is an object of a heap: "GCOL", then objects with their index and size.
  void check_text(Size length, Size heap, Size index) {
    if (length == 0 && heap == 0) return;
    Piece start = piece(heap, 16);
    check(start.text(4) == "GCOL", "a text is not where it should be");
    start.expect(4, 1, "texts have another version");
    const Size size = start.number(8);
    check(size >= 4096 && size <= (Size(1) << 32), "texts take an odd room");
    if (heaps_.emplace(heap, size).second) read_heap(heap, own_piece(heap, size));
    const auto found = texts_.find(std::pair(heap, index));
    check(found != texts_.end(), "a text is missing, or there twice");
    check(*found == Text{heap, index, length}, "a text has another length");
    texts_.erase(found);
  }

  void read_heap(Size heap, Piece all) {
    all.skip(16);
    while (all.left() >= 16) {
      const Size room = all.left();
      const Size index = all.number(2);
      all.skip(6);
      const Size size = all.number(8);
      if (index == 0) return check(size == room, "free room among texts has an odd size");
      check(size <= all.left() && padded(size) <= all.left(), "a text is cut off");
      all.skip(padded(size));
      check(texts_.insert({heap, index, size}).second, "two texts have one number");
    }
  }

  /// The members of a group: a tree of nodes that lead to lists of links, and a list of names.
  void check_members(const Members& members, int depth) {
    Piece heap = own_piece(members.heap, 32);
    check(heap.text(4) == "HEAP", "a list of names is not where it should be");
    heap.expect(4, 0, "a list of names has another version");
    const Size size = heap.number(8), free = heap.number(8), at = heap.number(8);
    const std::string names(own_piece(at, size).text(size));
    check_free_names(names, free);
    check_node(members.tree, undefined, depth, names);
  }

  /// Free room among names is a chain through the list itself; 1 ends it.
  static void check_free_names(const std::string& names, Size at) {
    Size before = 0;
    for (bool first = true; at != 1; first = false) {
      check(at % 8 == 0 && (first || at > before) && names.size() >= 16 && at <= names.size() - 16,
            "free room among names is not in order");
      Piece link(names.substr(at, 16));
      before = at;
      at = link.number(8);
      check(link.number(8) <= names.size() - before, "free room among names is too large");
    }
  }

  void check_node(Size at, Size level_above, int depth, const std::string& names) {
    Piece node = own_piece(at, 24 + 2 * node_ * 16 + 8);
    check(node.text(4) == "TREE", "a group's tree is not where it should be");
    node.expect(1, 0, "a tree is not of a group");
    const Size level = node.number(1), used = node.number(2);
    check(level_above == undefined ? level <= 8 : level + 1 == level_above,
          "a group's tree has an odd height");
    check(used <= 2 * node_, "a group's tree is too wide");
    const Size left = node.number(8), right = node.number(8);
    check(level_above != undefined || (left == undefined && right == undefined),
          "a group's tree has two roots");
    for (Size i = 0; i < used; ++i) {
      check(node.number(8) < names.size(), "a name lies outside of its list");
      const Size child = node.number(8);
      if (level > 0)
        check_node(child, level, depth, names);
      else
        check_links(child, depth, names);
    }
    check(node.number(8) < names.size() || used == 0, "a name lies outside of its list");
  }

  void check_links(Size at, int depth, const std::string& names) {
    Piece list = own_piece(at, 8 + 2 * leaf_ * 40);
    check(list.text(4) == "SNOD", "a group's links are not where they should be");
    list.expect(2, 1, "a group's links have another version");
    const Size count = list.number(2);
    check(count <= 2 * leaf_, "a group has too many links in one place");
    for (Size i = 0; i < count; ++i) check_link(list, depth + 1, &names);
  }

  struct Text {
    Size heap, index, length;
    auto operator<=>(const Text& other) const = default;
  };
  struct ByPlace {
    using is_transparent = void;
    static std::pair<Size, Size> place(const Text& text) { return {text.heap, text.index}; }
    static std::pair<Size, Size> place(const std::pair<Size, Size>& place) { return place; }
    bool operator()(const auto& a, const auto& b) const { return place(a) < place(b); }
  };

  int file_;
  Size size_ = 0, end_ = 0;        // of the file, of what HDF5 reads
  Size leaf_ = 0, node_ = 0;       // half of the links in a list, of the children of a node
  Size used_ = 0;                  // bytes that objects claim
  std::set<Size> objects_;         // addresses seen
  std::map<Size, Size> heaps_;     // of texts, read
  std::set<Text, ByPlace> texts_;  // that no attribute has claimed yet
};

}  // namespace

void check_hdf5_structure(const std::filesystem::path& path) {
  try {
    Structure(path).check_all();
  } catch (const Unreadable&) {
    throw;
  } catch (const Error& error) {
    throw Error(Fault::data, message_of(path.string(), ": cannot be used: ", error.what()));
  }
}

}  // namespace weft::core
