#include "experiments/draw/picture_file.h"

#include <dlfcn.h>

#include "core/error.h"

namespace weft::experiments {
namespace {

// The functions used of librsvg and cairo, as their manuals declare them. They are loaded when a
// picture is converted: linked, they would cost every start of the program 11 ms.
struct Rectangle {
  double x, y, width, height;
};
using Write = int (*)(void* to, const unsigned char* bytes, unsigned count);

class Renderer {
 public:
  Renderer() : library_(::dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL)) {
    core::require(
        library_ != nullptr,
        "PDF and PNG need librsvg, which is not installed: apt-get install librsvg2-2, or "
        "write .svg and convert it");
    find(open_, "rsvg_handle_new_from_data");
    find(render_, "rsvg_handle_render_document");
    find(release_, "g_object_unref");
    find(size_, "rsvg_handle_get_intrinsic_size_in_pixels");
    find(pdf_surface_, "cairo_pdf_surface_create_for_stream");
    find(image_surface_, "cairo_image_surface_create");
    find(write_png_, "cairo_surface_write_to_png_stream");
    find(finish_, "cairo_surface_finish");
    find(destroy_surface_, "cairo_surface_destroy");
    find(create_, "cairo_create");
    find(destroy_, "cairo_destroy");
    find(status_, "cairo_surface_status");
  }

  std::string pdf(const std::string& svg) const {
    std::string bytes;
    // A pixel of SVG is 3/4 of a point of PDF.
    draw(
        svg, 0.75, [&](double w, double h) { return pdf_surface_(append, &bytes, w, h); },
        [](void*) {});
    return bytes;
  }

  std::string png(const std::string& svg) const {
    std::string bytes;
    constexpr int argb32 = 0;
    draw(
        svg, 2, [&](double w, double h) { return image_surface_(argb32, int(w), int(h)); },
        [&](void* surface) { write_png_(surface, append, &bytes); });
    return bytes;
  }

 private:
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    core::require(function != nullptr, "librsvg is too old to write PDF and PNG: it has no ", name);
  }

  static int append(void* to, const unsigned char* bytes, unsigned count) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
    return 0;
  }

  void draw(const std::string& svg, double scale, const auto& make_surface,
            const auto& take) const {
    void* const handle =
        open_(reinterpret_cast<const unsigned char*>(svg.data()), svg.size(), nullptr);
    core::require(handle != nullptr, "librsvg cannot read a picture");
    Rectangle page{0, 0, 0, 0};
    size_(handle, &page.width, &page.height);
    page.width *= scale;
    page.height *= scale;
    void* const surface = make_surface(page.width, page.height);
    void* const context = create_(surface);
    const bool drawn = render_(handle, context, &page, nullptr) != 0;
    destroy_(context);
    if (drawn) take(surface);
    finish_(surface);
    const int fault = status_(surface);
    destroy_surface_(surface);
    release_(handle);
    core::require(drawn && fault == 0, "librsvg cannot draw a picture");
  }

  void* library_;
  void* (*open_)(const unsigned char*, std::size_t, void**);
  int (*render_)(void*, void*, const Rectangle*, void**);
  void (*release_)(void*);
  int (*size_)(void*, double*, double*);
  void* (*pdf_surface_)(Write, void*, double, double);
  void* (*image_surface_)(int, int, int);
  int (*write_png_)(void*, Write, void*);
  void (*finish_)(void*);
  void (*destroy_surface_)(void*);
  void* (*create_)(void*);
  void (*destroy_)(void*);
  int (*status_)(void*);
};

}  // namespace

bool is_picture_ending(const std::string& ending) {
  return ending == "svg" || ending == "pdf" || ending == "png";
}

std::string convert_picture(const std::string& svg, const std::string& ending) {
  if (ending == "svg") return svg;
  static const Renderer renderer;
  return ending == "pdf" ? renderer.pdf(svg) : renderer.png(svg);
}

}  // namespace weft::experiments
