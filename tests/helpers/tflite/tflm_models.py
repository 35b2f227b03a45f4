"""Which of the shared models each interpreter runs."""

IN_TFLM = (
    "ad01_autoencoder_float",
    "ad01_autoencoder_int8",
    "dscnn_kws_int8",
    "dtln_noise_suppression",
    "hello_world_float",
    "hello_world_int8",
    "keyword_scrambled_int8",
    "mcunet_vww_int8",
    "mobilenet_vww96_float",
    "mobilenet_vww96_int8",
    "person_detect_int8",
    "resnet8_float",
    "resnet8_int8",
    "streaming_wakeword_int8",
    "tinymaix_mnist_resnet_int8",
)


IN_LITERT = ("swiftnet_cell_vww_uint8", "dscnn_kws_float")
