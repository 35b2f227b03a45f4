"""memopt: fits neural networks into microcontrollers."""
